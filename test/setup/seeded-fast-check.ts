import * as fc from '../../node_modules/fast-check/lib/fast-check.js';

/**
 * Stands for `fast-check` in tests (an alias of vitest.config.ts): each run tries the same values, so that a failure is of
 * the change at hand. `ONWARD_SEED=<number>` tries others.
 */
fc.configureGlobal({ seed: Number(process.env['ONWARD_SEED'] ?? 1) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;
