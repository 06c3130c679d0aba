import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('has no unused or unlisted files, exports or dependencies', () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['node_modules/knip/bin/knip.js'],
    {
      encoding: 'utf8',
    },
  );
  expect(`${stdout}${stderr}`.trim()).toBe('');
  expect(status).toBe(0);
}, 120_000);
