import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with the tables that tests left in their meta, and one plain line for scripts: `N passed, N failed`. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tables: string[] = [];
    const counts = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        counts[test.result().state] += 1;
        const { table } = test.meta() as { readonly table?: string };
        if (table !== undefined) tables.push(`\n${table}\n`);
      }
      if (tests.length === 0 && !module.ok()) counts.failed += 1;
    }
    const skipped = counts.skipped > 0 ? `\n${counts.skipped} skipped` : '';
    process.on('exit', () => {
      process.stdout.write(
        `${tables.join('')}${skipped}\n${counts.passed} passed, ${counts.failed} failed\n`,
      );
    });
  }
}
