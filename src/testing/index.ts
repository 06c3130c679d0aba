export {
  broadcasterContract,
  type BroadcasterContractCase,
  type BroadcasterHarness,
  type ChannelReader,
} from './broadcaster-contract.ts';
export {
  DeterministicDriver,
  type DeterministicOptions,
  type RecordedRequest,
} from './deterministic-driver.ts';
export { fakeClock, type FakeClock } from './fake-clock.ts';
export type { Clock } from '../clock.ts';
export {
  messageBusContract,
  type MessageBusContractCase,
  type MessageBusHarness,
} from './message-bus-contract.ts';
export { mockTool, type MockResult, type MockTool } from './mock-tool.ts';
export { recordModel, type RecordOptions } from './record-model.ts';
export { replayModel, type ReplayedModel, type ReplayOptions } from './replay-model.ts';
export { ScenarioStep, type ScenarioExtras, type ScriptedCall } from './scenario-step.ts';
export { sessionStoreContract, type StoreContractCase } from './session-store-contract.ts';
