/** Tables whose rows belong to a session by `session_id`. */
export const childTables = [
  'messages',
  'steps',
  'compactions',
  'agents',
  'calls',
  'events',
  'blobs',
  'commands',
  'executions',
  'waits',
  'runs',
] as const;
