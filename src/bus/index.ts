export { inProcessBus } from './in-process-bus.ts';
export type { BusConnection, BusHandlers, MessageBus } from './message-bus.ts';
export type { ServerBusOptions } from './server-bus.ts';
