// Package fieldtext writes values as fields of text: CSV and JSON Lines, which differ in a
// [Syntax], whole pieces of it packed, and texts made valid UTF-8. It hides how bytes are escaped
// and moments formatted. It knows neither columns nor files. Packages output, listfile and rejects
// import it.
package fieldtext
