package api

import (
	"net/http"
	"strconv"

	"github.com/anteroom/anteroom"
)

// Rules of paging. The default is not published; this one bounds an answer of the largest pages.
const (
	perPageMin  = 5
	perPageMax  = 1000
	perPageStep = 5
	perPage     = 50
)

// paged cuts the asked page out of a list. A page behind the end is empty and no error: clients ask
// until they meet one.
func paged[T any](r *http.Request, all []T) (reply, error) {
	var faults anteroom.Errors
	number := func(name string, byDefault int, valid func(int) bool, rule string) int {
		given := r.URL.Query().Get(name)
		if given == "" {
			return byDefault
		}
		v, err := strconv.Atoi(given)
		if err != nil || !valid(v) {
			faults = append(faults, anteroom.Errorf(anteroom.CodeInvalid, "%q is not allowed", given).At(name).WithHint("%s", rule))
		}
		return v
	}
	page := number("page", 1, func(v int) bool { return v >= 1 }, "pages are counted from 1")
	size := number("per_page", perPage, func(v int) bool {
		return v >= perPageMin && v <= perPageMax && v%perPageStep == 0
	}, "use a multiple of 5 in the range 5 to 1000")
	if err := faults.OrNil(); err != nil {
		return reply{}, err
	}
	from, to := len(all), len(all)
	if pages := (len(all) + size - 1) / size; page <= pages {
		from, to = (page-1)*size, min(page*size, len(all))
	}
	part := append([]T{}, all[from:to]...)
	return reply{result: part, info: &resultInfo{
		Page: page, PerPage: size, Count: len(part), TotalCount: len(all), TotalPages: (len(all) + size - 1) / size,
	}}, nil
}
