import type { EventNote } from '../events/event-outlet.ts';
import type { LogPosition } from './feed/live-source.ts';

/** Without arguments, which may be what could not be written. */
export const withoutArgs = (note: EventNote): EventNote =>
  'args' in note.fields
    ? { ...note, fields: { ...note.fields, args: { omitted: 'They could not be kept.' } } }
    : note;

/** Without the last text of the model. */
export const withoutText = (note: EventNote): EventNote =>
  'outputText' in note.fields ? { ...note, fields: { ...note.fields, outputText: '' } } : note;

/** The start of an execution, with the position where the one before ended. */
export const afterExecution = (note: EventNote, previous: LogPosition): EventNote =>
  note.type === 'AgentStarted' ? { ...note, fields: { ...note.fields, previous } } : note;
