package generators

import (
	"reflect"
	"testing"
)

func TestCheckTagNames(t *testing.T) {
	tests := []struct {
		tag  reflect.StructTag
		want string
	}{
		{``, ""},
		{`json:"f"  minimum:"1"`, ""},
		{`json:"f" anything`, ""},
		{`json:"f" protobuf: "1"`, ""},
		{`json:"f" minimum: "1"`, `tag minimum: "1": can't be read; write name:"value" pairs with a space between them`},
		{`minimum=1`, `tag minimum=1: can't be read; write name:"value" pairs with a space between them`},
		{`json:"f",minimum:"1"`, "tag ,minimum: is unknown; did you mean minimum?"},
		{`json:"f" descripton:"x"`, "tag descripton: is unknown; did you mean description?"},
		{`json:"f" min-items:"1"`, "tag min-items: is unknown; did you mean minItems?"},
		{`json:"f" maxlenght:"1"`, "tag maxlenght: is unknown; did you mean maxLength?"},
		{`json:"f" multipleof:"1"`, "tag multipleof: is unknown; did you mean multipleOf?"},
		{`json:"f" title:"a" title:"b"`, "tag title: is given twice"},
		{`json:"f" json:"g"`, ""}, // vet says that
	}
	for _, tt := range tests {
		got := ""
		if err := checkTagNames(tt.tag); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.tag, got, tt.want)
		}
	}
}
