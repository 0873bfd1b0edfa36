// Package container lays chunks out in the bytes of a file: Parquet, Arrow, CSV or JSON Lines.
//
// It hides the formats: their names, the abilities of each, how chunks are encoded beside each other,
// and when dictionaries start anew. It knows columns by their types only, and no verdicts. Package
// output and the rooms beside this one import it.
package container
