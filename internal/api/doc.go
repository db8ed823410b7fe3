// Package api serves the administration over HTTP under /client/v4: requests become calls, errors
// become statuses in the published envelope. It also has the client that applies a site file.
//
// It holds no configuration and makes no decision about rooms: config checks the bodies, the store
// behind [Configuration] keeps them, the coordinators behind [Rooms] know the counts. internal/edge
// mounts the handler on the admin address. Start reading at [New].
package api
