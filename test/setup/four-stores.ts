import { memoryStore } from 'onward/stores/memory';
import type { SessionStore } from 'onward';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { mapDriver } from './key-values.ts';
import { open } from './postgres-stores.ts';
import { sqlitePlace } from './sessions.ts';

/** Each store there is, for `describe.each`. PostgreSQL is shared by the file: give sessions ids of their own. */
export const stores: readonly (readonly [string, () => SessionStore])[] = [
  ['memory', () => memoryStore()],
  ['key-value', () => keyValueStore(mapDriver())],
  ['sqlite', () => sqlitePlace().open()],
  ['postgres', () => open()],
];
