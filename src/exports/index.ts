export { exportSession, type ExportOptions } from './export-session.ts';
export { importSession, type ImportOptions } from './import-session.ts';
export {
  collectExport,
  exportLine,
  parseExport,
  type ExportLimits,
  type ExportSource,
} from './read-export.ts';
export {
  eventIn,
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type EventJSON,
  type ExportedAgent,
  type ExportedCall,
  type ExportedCompaction,
  type ExportedEvent,
  type ExportedMessage,
  type ExportedSession,
  type ExportedState,
  type ExportedStep,
  type ExportEnd,
  type ExportHeader,
  type ExportRecord,
  type SessionExport,
} from './session-export.ts';
