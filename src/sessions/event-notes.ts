import type { EventNote } from '../events/event-outlet.ts';

/** Returns the note with these fields replaced. */
export const withFields = (note: EventNote, fields: object): EventNote => ({
  ...note,
  fields: { ...note.fields, ...fields },
});

/** Replaces the arguments in an event: they may be the value that cannot be written. */
export const withoutArgs = (note: EventNote): EventNote =>
  'args' in note.fields
    ? withFields(note, { args: { omitted: 'The arguments could not be stored.' } })
    : note;
