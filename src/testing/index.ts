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
export { rehearse, type RehearseOptions } from './rehearse.ts';
export { replayModel, type ReplayedModel, type CassetteOptions } from './replay-model.ts';
export { ScenarioStep, type ScenarioExtras, type ScriptedCall } from './scenario-step.ts';
export {
  type CallOutline,
  outlineOf,
  type SessionOutline,
  type StepOutline,
} from './session-outline.ts';
export {
  type RecordedResult,
  type ScriptedAgent,
  scriptOf,
  type ScriptOptions,
  type ScriptTurn,
  type SessionScript,
} from './session-script.ts';
export { sessionTest, type SessionTestOptions } from './session-test.ts';
export { sessionStoreContract, type StoreContractCase } from './session-store-contract.ts';
