package weblog

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fieldRoles are the roles of fields.tsv. Those in the second line only prevent a field from having another role.
var fieldRoles = strings.Fields(`url request scheme host port path query method protocol status bytes time date clock client forwarded agent referer user
	machine peer file route sni phrase logtime otherstatus otherbytes`)

// fieldUnits are the units of fields.tsv: of numeric times, and encodings of texts.
var fieldUnits = strings.Fields("s ms us ns percent plus quoted list decoded")

// plainField returns a name as names are compared.
var plainField = strings.NewReplacer("-", "", "_", "", "(", "", ")", "")

// TestFieldsTable checks the text of the table, so that a row that its reader would skip or misread is an error. A mark
// is "x" if the name alone identifies the producer, or "x:group" if all names of the group together do; names after it,
// as in "x:group -status", must not exist.
func TestFieldsTable(t *testing.T) {
	data, err := os.ReadFile("fields.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if lines[0] != "producer\tname\trole\trank\tunit\tmark\tsource" {
		t.Fatalf("header is %q", lines[0])
	}
	type row struct {
		producer, role string
		rank           int
	}
	names, groups, marked := map[string]int{}, map[string]int{}, map[string]bool{}
	var last row
	for i, line := range lines[1:] {
		number := i + 2
		cells := strings.Split(line, "\t")
		if len(cells) != 7 {
			t.Errorf("line %d has %d cells, want 7", number, len(cells))
			continue
		}
		producer, name, role, unit, mark, source := cells[0], cells[1], cells[2], cells[4], cells[5], cells[6]
		if slices.ContainsFunc(cells, func(cell string) bool { return cell != strings.TrimSpace(cell) }) {
			t.Errorf("line %d has a cell with a blank at its end", number)
		}
		if producer == "" || name == "" || source == "" {
			t.Errorf("line %d has no producer, name or source", number)
		}
		if !slices.Contains(fieldRoles, role) {
			t.Errorf("line %d: role %q is none", number, role)
		}
		if unit != "" && !slices.Contains(fieldUnits, unit) {
			t.Errorf("line %d: unit %q is none", number, unit)
		}
		rank, err := strconv.Atoi(cells[3])
		if err != nil || rank < 1 {
			t.Errorf("line %d: rank %q is no positive number", number, cells[3])
		}
		plain := producer + "\t" + plainField.Replace(strings.ToLower(name))
		if at, twice := names[plain]; twice {
			t.Errorf("line %d: %s has the name %q on line %d, too", number, producer, name, at)
		}
		names[plain] = number
		now := row{producer, role, rank}
		if order := cmp.Or(cmp.Compare(last.producer, now.producer), cmp.Compare(last.role, now.role), cmp.Compare(last.rank, now.rank)); order >= 0 {
			t.Errorf("line %d is not behind line %d by producer, role and rank", number, number-1)
		}
		last = now
		marked[producer] = marked[producer] || mark != ""
		for k, word := range strings.Fields(mark) {
			group, inGroup := strings.CutPrefix(word, "x:")
			switch absent, isAbsent := strings.CutPrefix(word, "-"); {
			case producer == "*":
				t.Errorf("line %d: a mark of no producer", number)
			case inGroup && k == 0:
				groups[producer+"\t"+group]++
			case isAbsent && k > 0 && absent != "", word == "x" && k == 0:
			default:
				t.Errorf("line %d: mark %q has no form", number, mark)
			}
		}
	}
	for group, members := range groups {
		if members < 2 {
			t.Errorf("the group %q has one row: a mark of its own is enough", group)
		}
	}
	for producer, has := range marked {
		if !has && producer != "*" {
			t.Errorf("%s has no mark, so its rows never count", producer)
		}
	}
}
