// Package dashboard shows an operator what the waiting rooms do at this moment and did in the last
// day: a table of rooms, and for each room a chart of the limit, the active users, the free slots
// and the queued users.
//
// Pages are rendered by the server and kept current by one stream of server-sent events; without
// JavaScript they reload themselves and show tables. The package asks nobody outside: every asset is
// embedded. It decides nothing about rooms or visitors; counts come from the functions in [Options].
// Start reading at [New] and [Dashboard.Run].
package dashboard
