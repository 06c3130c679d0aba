import type { AxeResults } from 'axe-core';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Finding {
  readonly rule: string;
  readonly impact: string;
  readonly where: readonly string[];
}

/** Findings that axe rates as serious or worse. Works under a strict content security policy. */
export async function seriousFindings(page: Page): Promise<readonly Finding[]> {
  const results = await page.evaluate(`(() => {
    if (!window.axe) { ${axe} }
    return window.axe.run();
  })()`);
  return seriousOf(results as AxeResults);
}

export const seriousOf = ({ violations }: AxeResults): readonly Finding[] =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, impact, nodes }) => ({
      rule: id,
      impact: impact ?? '',
      where: nodes.map((node) => node.html.slice(0, 160)),
    }));
