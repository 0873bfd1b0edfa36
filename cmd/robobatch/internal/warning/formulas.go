package warning

import (
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/output"
)

// Formulas returns the warning that an output has cells that spreadsheets would run; none if there are none.
func Formulas(formulas output.Formulas) []Warning {
	if formulas.Cells == 0 {
		return nil
	}
	text := say.Count(formulas.Cells, "cell") + " of the output may begin a formula, with =, +, -, @, a tab or a carriage return, which spreadsheets run: if one is to open it, use -csv safe"
	d := Warning{Code: FormulaCells, Text: text, Count: formulas.Cells}
	for _, cell := range formulas.First {
		d.Examples = append(d.Examples, strings.ToValidUTF8(cell[:min(len(cell), longestExample)], ""))
	}
	return []Warning{d}
}

// longestExample is how many bytes of a cell are shown.
const longestExample = 100
