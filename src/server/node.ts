/** Node adapters: mounts a Fetch handler in Express or `node:http`, or serves it together with a console. */
export { nodeListener, type FetchHandler, type NodeListenerOptions } from './node-listener.ts';
export { serve, type RunningServer, type ServeOptions } from './node-serve.ts';
export { staticFiles, type StaticFiles } from './node-static.ts';
