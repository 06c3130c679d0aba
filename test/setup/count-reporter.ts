import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/**
 * Prints the tables in the test metadata, the file and title of each failure, and one line for scripts: `N passed, N
 * failed`.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tables: string[] = [];
    const failed: string[] = [];
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      // a module that failed to load, or whose hook threw, has its own errors
      if (module.errors().length > 0) failed.push(module.relativeModuleId);
      for (const suite of module.children.allSuites())
        if (suite.errors().length > 0) failed.push(placeOf(suite));
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[state] += 1;
        if (state === 'failed') failed.push(placeOf(test));
        const { table } = test.meta() as { readonly table?: string };
        if (table !== undefined) tables.push(`\n${table}\n`);
      }
    }
    for (const error of errors) failed.push(`outside of tests: ${firstLineOf(error)}`);
    const skipped = counts.skipped > 0 ? [`${counts.skipped} skipped`] : [];
    const names = failed.map((place) => `  ${place.replaceAll(/\s+/g, ' ')}`);
    const lines = [...skipped, ...(names.length > 0 ? ['Failed:', ...names] : [])];
    const result = `${counts.passed} passed, ${failed.length} failed`;
    process.on('exit', () => {
      process.stdout.write(`${tables.join('')}\n${[...lines, result].join('\n')}\n`);
    });
  }
}

const MOST_CHARACTERS = 300;

const placeOf = (item: TestCase | TestSuite): string =>
  `${item.module.relativeModuleId} > ${item.fullName}`.slice(0, MOST_CHARACTERS);

const firstLineOf = (error: unknown): string =>
  String(error instanceof Object && 'message' in error ? error.message : error).split('\n')[0] ??
  '';
