package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
)

// defaultAgents are the crawlers that are asked for if nobody names any.
var defaultAgents = []string{"*"}

// agents returns the crawlers that are asked for.
func (p *plan) agents() []string {
	if len(p.storeOpt.Agents) == 0 {
		return defaultAgents
	}
	return p.storeOpt.Agents
}

// chooseShape is the part of choose about the rows and columns of the output. It comes after those about agents and kept
// columns. The error joins a usageError for each fault.
func (p *plan) chooseShape(a args) error {
	var errs []error
	check := func(name string, err error) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	var err error
	p.outOpt.Columns, err = output.ParseColumns(a.columns)
	check("columns", withColumnHints(err))
	known := err == nil
	p.outOpt.Layout, err = output.ParseLayout(cmp.Or(a.layout, output.Long.String()))
	check("layout", withHint(err, a.layout, enumerated["layout"]))
	if a.columns == "" {
		p.outOpt.Columns = p.outOpt.Layout.DefaultColumns()
	}
	check("columns", p.chooseViolation(a))
	if known && p.outOpt.Layout == output.Wide {
		check("layout", p.checkWide())
	}
	p.outOpt.Where, err = output.ParseWhere(a.where)
	check("where", withWhereHint(err, a.where))
	if p.outOpt.Where&output.WhereViolations != 0 && !a.fromLog {
		check("where", errors.New("violations are of the crawlers of the log: add -agent-from-log"))
	}
	p.asked.Layout, p.asked.Where = p.outOpt.Layout.String(), p.outOpt.Where.String()
	return errors.Join(errs...)
}

// checkWide checks that the agents can have columns each.
func (p *plan) checkWide() error {
	if p.storeOpt.LogAgents != engine.LogAgentsOff {
		return errors.New("with -agent-from-log each row is for one crawler: leave out -layout wide, or name the crawlers with -agent")
	}
	_, err := p.outOpt.ColumnNames(p.agents())
	return wideError(err)
}

// chooseViolation adds the column of that name to the default ones if the log says who came, and otherwise refuses it.
func (p *plan) chooseViolation(a args) error {
	switch {
	case a.fromLog && a.columns == "":
		p.outOpt.Columns = append(p.outOpt.Columns, output.Violation)
	case !a.fromLog && slices.Contains(p.outOpt.Columns, output.Violation):
		return fmt.Errorf("the column %s is about the crawlers of the log: add -agent-from-log", output.Violation)
	}
	return nil
}

// withWhereHint adds to the errors of a list of kinds the one that may be meant, if a single one is given.
func withWhereHint(err error, list string) error {
	if len(parts(err)) != 1 {
		return err
	}
	return withHint(parts(err)[0], list, listed["where"])
}
