import * as fc from '../../node_modules/fast-check/lib/fast-check.js';

/**
 * Replaces `fast-check` in tests (an alias in vitest.config.ts). Every run tries the same values, so that a failure
 * comes from the current change. `ONWARD_SEED=<number>` tries others.
 */
fc.configureGlobal({ seed: Number(process.env['ONWARD_SEED'] ?? 1) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;
