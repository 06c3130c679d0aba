export { BroadcastConfig, type BroadcastSettings } from './broadcast-config.ts';
export {
  broadcastSessions,
  type BroadcastSessionsOptions,
  type SessionBroadcasts,
} from './broadcast-sessions.ts';
export { BroadcastError, type Broadcast, type Broadcaster } from './broadcaster.ts';
export { consoleBroadcaster } from './broadcasters/console.ts';
export {
  memoryBroadcaster,
  type MemoryBroadcaster,
  type MemoryBroadcasterOptions,
} from './broadcasters/memory.ts';
export {
  channelOf,
  type TruncatedValue,
  type Envelope,
  type EnvelopeOf,
  type EnvelopePayloads,
  type EnvelopeType,
  type Refill,
  type StopPayload,
  type WireEvaluation,
  type WireUsage,
} from './envelope.ts';
export { AgentEventEnvelopeAdapter, type EnvelopeAdapterOptions } from './envelope-adapter.ts';
export type { Drop, TransportChange } from './delivery-reports.ts';
export type { BroadcastStats, DeliveryOptions } from './envelope-queue.ts';
export { readRef } from './envelope-ref.ts';
export { readRefill, type RefillOptions } from './refill.ts';
export { sseEndpoint, type SseEndpoint, type SseEndpointOptions } from './sse/sse-endpoint.ts';
export type { SsePlace } from './sse/sse-frame.ts';
export {
  sseHub,
  type SseCounters,
  type SseHub,
  type SseHubOptions,
  type SseOpenOptions,
} from './sse/sse-hub.ts';
export type { SseFeedOptions } from './sse/sse-feeds.ts';
export {
  refEndpoint,
  refillEndpoint,
  type OwnerHook,
  type SessionEndpoint,
  type SessionEndpointOptions,
} from './sse/sse-request.ts';
