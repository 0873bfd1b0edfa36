package summary

import (
	"reflect"
	"testing"
)

// TestAdd checks that all counts are added. It fails for a new count that Add does not know.
func TestAdd(t *testing.T) {
	var one, sum Counts
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() { //nolint:exhaustive // others are no counts
		case reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Map:
			f.Set(reflect.ValueOf(map[string]int64{"x": int64(i + 1)}))
		}
	}
	sum.Add(&one)
	sum.Add(&one)
	got := reflect.ValueOf(sum)
	for i := range v.NumField() {
		name, want := v.Type().Field(i).Name, int64(2*(i+1))
		switch f := got.Field(i); f.Kind() { //nolint:exhaustive // others are no counts
		case reflect.Int64:
			if f.Int() != want {
				t.Errorf("%s is %d, want %d", name, f.Int(), want)
			}
		case reflect.Map:
			if n := f.Interface().(map[string]int64)["x"]; n != want {
				t.Errorf("%s is %d, want %d", name, n, want)
			}
		}
	}
}
