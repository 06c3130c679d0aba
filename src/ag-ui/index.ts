export type {
  AgUiEvent,
  AgUiInterrupt,
  AgUiMessage,
  AgUiOutcome,
  AgUiPart,
  AgUiToolCall,
  AgUiUsage,
} from './ag-ui-event.ts';
export { agUiServer, type AgUiServer, type AgUiServerOptions } from './ag-ui-server.ts';
