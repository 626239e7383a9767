package generators_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/photon-beam/beam/generators"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file in testdata.
func golden(t *testing.T, name string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", name, b.Bytes())
	}
}

// Base is embedded, so that its fields are those of the outer struct.
type Base struct {
	ID string `json:"id" pattern:"^[a-z]+$" title:"Id" description:"What it is called by."`
}

// allTags has every tag, and every type with a JSON form of its own.
type allTags struct {
	Base
	Mail    string            `json:"mail" format:"email" minLength:"3" maxLength:"254"`
	Name    string            `json:"name,omitempty" default:"Ada, née Byron"`
	Level   string            `json:"level" enum:"dev, prod" default:"dev"`
	Titled  string            `json:"titled" enum:"d,p" enumTitles:"Development,Production"`
	Tags    []string          `json:"tags,omitempty" enum:"a,b,c" minItems:"1" maxItems:"2" default:"a, b"`
	Colours []string          `json:"colours" enum:"r,g" enumTitles:"Red,Green"`
	Count   int               `json:"count" minimum:"-1" maximum:"10" default:"3"`
	Share   float64           `json:"share" multipleOf:"0.25" maximum:"1e2"`
	Small   uint8             `json:"small"`
	Sure    bool              `json:"sure,omitempty" default:"true"`
	Maybe   *string           `json:"maybe,omitempty" minLength:"1"`
	When    time.Time         `json:"when"`
	Took    time.Duration     `json:"took"`
	Address netip.Addr        `json:"address"`
	Blob    []byte            `json:"blob"`
	Raw     json.RawMessage   `json:"raw"`
	Number  json.Number       `json:"number"`
	Any     any               `json:"any"`
	Labels  map[string]string `json:"labels"`
	Parts   []part            `json:"parts"`
	Hidden  string            `json:"-"`
	Untold  string
	private string
}

type part struct {
	Size *int `json:"size" minimum:"0"`
}

func TestSchemaOfEveryTag(t *testing.T) {
	s, err := generators.SchemaFor[allTags]()
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := s.MarshalJSON()
	golden(t, "everything.json", raw)
	_ = allTags{}.private
}

// The schema of a result allows null where encoding/json writes it, so that a client
// that validates results accepts them.
func TestResultSchema(t *testing.T) {
	p := generators.New("p", func(context.Context, noInput, generators.Yield) (allTags, error) {
		return allTags{}, nil
	}, nil)
	raw, _ := p.Output().MarshalJSON()
	golden(t, "everything-result.json", raw)
	tests := []*generators.Photon{
		newTypedPhoton[noInput, struct {
			List  []string       `json:"list"`
			Map   map[string]int `json:"map"`
			Ptr   *part          `json:"ptr"`
			Bytes []byte         `json:"bytes"`
			Parts [1]*part       `json:"parts"`
			Pick  *string        `json:"pick" enum:"a,b"`
			Named *string        `json:"named" enum:"a,b" enumTitles:"A,B"`
			Left  []string       `json:"left,omitempty"`
		}](nil),
		newTypedPhoton[noInput, []string](nil), newTypedPhoton[noInput, []part](nil), newTypedPhoton[noInput, string](nil), newTypedPhoton[noInput, any](nil),
	}
	for _, p := range tests {
		_, result, err := drive(t.Context(), p, nil)
		if err != nil {
			t.Errorf("%v", err)
		} else if err := p.Output().Validate(json.RawMessage(result)); err != nil {
			t.Errorf("%s doesn't conform to its schema: %v", result, err)
		}
	}
}

// A violation within a part that may be null is told as one within any other part.
func TestViolationWithinNullablePart(t *testing.T) {
	p := newTypedPhoton[noInput, struct {
		List []struct {
			Size int    `json:"size" minimum:"0"`
			Name string `json:"name"`
		} `json:"list"`
	}](nil)
	for result, want := range map[string]string{
		`{"list":null}`:                      "",
		`{"list":[{"size":1,"name":"a"}]}`:   "",
		`{"list":[{"size":-1}]}`:             "/list/0/name is required; /list/0/size must be at least 0",
		`{"list":"many"}`:                    "/list must be a list, not text",
		`{"list":[{"size":"1","name":"a"}]}`: "/list/0/size must be a whole number, not text",
	} {
		got := ""
		if err := p.Output().Validate(json.RawMessage(result)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
}

// The error for an invalid tag names the field and the rule.
func TestInvalidTags(t *testing.T) {
	tests := []struct {
		schema func() (*generators.Schema, error)
		want   string
	}{
		{generators.SchemaFor[struct {
			F string `minimum:"1"`
		}], `tag minimum:"1": applies to fields of type number or integer, but the field has the type "string"`},
		{generators.SchemaFor[struct {
			F int `minimum:"NaN"`
		}], "must be a number"},
		{generators.SchemaFor[struct {
			F int `maximum:"Inf"`
		}], "must be a number"},
		{generators.SchemaFor[struct {
			F float64 `multipleOf:"0"`
		}], "must be more than 0"},
		{generators.SchemaFor[struct {
			F int `pattern:"a"`
		}], `tag pattern:"a": applies to fields of type string`},
		{generators.SchemaFor[struct {
			F string `pattern:"("`
		}], "missing closing )"},
		{generators.SchemaFor[struct {
			F []int `format:"email"`
		}], "applies to fields of type string"},
		{generators.SchemaFor[struct {
			F string `minLength:"-1"`
		}], "must be a whole number of 0 or more"},
		{generators.SchemaFor[struct {
			F string `minLength:"3" maxLength:"2"`
		}], "its minimum is greater than its maximum"},
		{generators.SchemaFor[struct {
			F int `minimum:"3" maximum:"2"`
		}], "its minimum is greater than its maximum"},
		{generators.SchemaFor[struct {
			F string `minItems:"1"`
		}], "applies to fields of type array"},
		{generators.SchemaFor[struct {
			F int `enum:"1,2"`
		}], "tag enum: applies to fields of type string"},
		{generators.SchemaFor[struct {
			F string `enum:"a,b" enumTitles:"A"`
		}], "tag enumTitles: 1 titles for 2 values"},
		{generators.SchemaFor[struct {
			F string `enumTitles:"A"`
		}], "tag enumTitles: requires the tag enum"},
		{generators.SchemaFor[struct {
			F int `default:"many"`
		}], "must be JSON of the type integer"},
		{generators.SchemaFor[struct {
			F int `default:"1.5"`
		}], "its default 1.5 must be a whole number"},
		{generators.SchemaFor[struct {
			F string `maxLength:"2" default:"abc"`
		}], `its default "abc" must be at most 2 characters long; it has 3`},
		{generators.SchemaFor[struct {
			F string `enum:"a,b" default:"c"`
		}], `its default "c" must be one of a, b`},
		{generators.SchemaFor[struct {
			F []string `enum:"a,b" default:"a,c"`
		}], "must be one of a, b"},
		{generators.SchemaFor[struct {
			F string `format:"emial"`
		}], `tag format:"emial": must be one of date, date-time,`},
		{generators.SchemaFor[struct {
			F string `enum:""`
		}], `tag enum:"": has no choices`},
		{generators.SchemaFor[struct {
			F string `enum:"a,b,a"`
		}], `tag enum:"a,b,a": has the choice "a" twice`},
		{generators.SchemaFor[struct {
			F int `json:"f" minimun:"1"`
		}], "tag minimun: is unknown; did you mean minimum?"},
		{generators.SchemaFor[struct {
			F []struct {
				G string `min_length:"1"`
			}
		}], "field G of struct { G string \"min_length:\\\"1\\\"\" }: tag min_length: is unknown; did you mean minLength?"},
		{generators.SchemaFor[struct {
			F string `Title:"Name"`
		}], "tag Title: is unknown; did you mean title?"},
		{generators.SchemaFor[struct {
			F string `enum:"a" fromat:"b"`
		}], "tag fromat: is unknown; did you mean format?"},
		{generators.SchemaFor[struct {
			F string `enum:"a,b" enumtitle:"A,B"`
		}], "tag enumtitle: is unknown; did you mean enumTitles?"},
		{generators.SchemaFor[struct {
			F struct{ Ch chan int }
		}], "field Ch of"},
		{generators.SchemaFor[struct {
			F map[float64]string
		}], "map key"},
		{generators.SchemaFor[struct {
			Base `json:"F"`
		}], "field Base of"},
	}
	for _, tt := range tests {
		s, err := tt.schema()
		switch {
		case err == nil:
			raw, _ := s.MarshalJSON()
			t.Errorf("accepted, want %q: %s", tt.want, raw)
		case !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "field "):
			t.Errorf("the error is %q, want %q and the field", err, tt.want)
		}
	}
}

// Tags of other packages are accepted.
func TestTagsOfOtherPackages(t *testing.T) {
	schema, err := generators.SchemaFor[struct {
		A string `json:"a" yaml:"a,omitempty" toml:"a" xml:"a" db:"a" sql:"a" gorm:"size:9" bson:"a" validate:"min=1" binding:"required"`
		B string `json:"b" form:"b" query:"b" header:"b" uri:"b" path:"b" param:"b" url:"b" env:"B" envDefault:"x" enums:"a,b" example:"c"`
		C string `json:"c" mapstructure:"c" protobuf:"bytes,1" msgpack:"c" cbor:"c" csv:"c" hcl:"c" ini:"c" koanf:"c" jsonschema:"What it is."`
		D string `json:"d" help:"x" name:"d" short:"d" arg:"" cmd:"" required:"" min:"1" max:"2" len:"3" desc:"x" doc:"x" mod:"trim" fake:"{name}"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := schema.MarshalJSON()
	const want = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string","description":"What it is."},` +
		`"d":{"type":"string"}},"required":["a","b","c","d"],"additionalProperties":false}`
	if !jsonEqual(t, raw, []byte(want)) {
		t.Errorf("the schema is %s", raw)
	}
}

func jsonEqual(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
