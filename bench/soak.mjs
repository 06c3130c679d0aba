/** Breaks workers and stores for as long as you like; for the options: npm run soak -- --help */
import { testProgram } from './test-program.mjs';

const { soak } = await testProgram('test/kill/soak.ts');
process.exitCode = await soak(process.argv.slice(2));
