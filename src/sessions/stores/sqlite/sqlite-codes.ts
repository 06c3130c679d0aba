/** Primary result codes of SQLite. */
export const SqliteCode = {
  Busy: 5,
  ReadOnly: 8,
  IoError: 10,
  Corrupt: 11,
  Full: 13,
  CannotOpen: 14,
  NotADatabase: 26,
} as const;

/** The fixed texts of those codes, for errors without a code, as `all()` of `@photostructure/sqlite` throws them. */
const texts = new Map<string, number>([
  ['database is locked', SqliteCode.Busy],
  ['attempt to write a readonly database', SqliteCode.ReadOnly],
  ['disk I/O error', SqliteCode.IoError],
  ['database disk image is malformed', SqliteCode.Corrupt],
  ['database or disk is full', SqliteCode.Full],
  ['unable to open database file', SqliteCode.CannotOpen],
  ['file is not a database', SqliteCode.NotADatabase],
]);

/** Returns the primary result code of an error; 0 if it is not an SQLite error. */
export function resultCode(error: unknown): number {
  const { errcode, message } = (error ?? {}) as { errcode?: number; message?: string };
  return errcode === undefined ? (texts.get(message ?? '') ?? 0) : errcode & 0xff;
}
