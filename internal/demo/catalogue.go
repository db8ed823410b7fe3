package demo

// ticketsMax is the most tickets of one show in a cart.
const ticketsMax = 4

// Show is one evening of the sample shop's tour.
type Show struct {
	Slug  string `json:"slug"`
	City  string `json:"city"`
	Venue string `json:"venue"`
	Date  string `json:"date"` // as a person reads it
	// Price is in whole euros.
	Price int `json:"price"`
	// Hue colours the poster, in degrees.
	Hue int `json:"-"`
}

// shows is the whole catalogue.
func shows() []Show {
	return []Show{
		{Slug: "lisbon", City: "Lisbon", Venue: "Harbour Hall", Date: "Friday, 4 June", Price: 58, Hue: 18},
		{Slug: "porto", City: "Porto", Venue: "Old Tram Depot", Date: "Saturday, 5 June", Price: 54, Hue: 340},
		{Slug: "lyon", City: "Lyon", Venue: "Silk Theatre", Date: "Tuesday, 8 June", Price: 62, Hue: 275},
		{Slug: "vienna", City: "Vienna", Venue: "Glasshouse", Date: "Friday, 11 June", Price: 69, Hue: 222},
		{Slug: "gdansk", City: "Gdańsk", Venue: "Shipyard No. 3", Date: "Monday, 14 June", Price: 49, Hue: 190},
		{Slug: "tallinn", City: "Tallinn", Venue: "Sea Fortress", Date: "Thursday, 17 June", Price: 52, Hue: 150},
	}
}

// showBySlug finds a show.
func showBySlug(slug string) (Show, bool) {
	for _, s := range shows() {
		if s.Slug == slug {
			return s, true
		}
	}
	return Show{}, false
}
