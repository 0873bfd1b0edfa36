// Package fieldtext writes values as fields of text: CSV and JSON Lines, which differ in a
// [Syntax], whole pieces of it packed, and texts made valid UTF-8. It hides how bytes are escaped
// and moments formatted. Package output and internal/listings import it; it knows neither columns
// nor files.
package fieldtext
