package route_test

import (
	"fmt"

	"github.com/anteroom/anteroom/internal/route"
)

func Example() {
	table, err := route.Compile([]route.Entry{
		{Host: "example.com", Path: "/shop", Room: 0},
		{Host: "example.com", Path: "/shop/sale", Room: 1},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{"/shop/cart", "/shopping", "/%73hop//sale/", "/x/..;/shop"} {
		room, ok := table.Match("Example.com:8443", path)
		fmt.Println(path, room, ok)
	}
	fmt.Println(table.Split("example.com", "/shop/..%2fshop/sale"))
	// Output:
	// /shop/cart 0 true
	// /shopping 0 false
	// /%73hop//sale/ 1 true
	// /x/..;/shop 0 true
	// true
}
