import { memoryStore } from 'onward/stores/memory';
import type { SessionStore } from 'onward/stores';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { mapDriver } from './key-values.ts';
import { open } from './postgres-stores.ts';
import { sqlitePlace } from './sessions.ts';

/** Every store, for `describe.each`. The tests of a file share PostgreSQL: use unique session ids. */
export const stores: readonly (readonly [string, () => SessionStore])[] = [
  ['memory', () => memoryStore()],
  ['key-value', () => keyValueStore(mapDriver())],
  ['sqlite', () => sqlitePlace().open()],
  ['postgres', () => open()],
];
