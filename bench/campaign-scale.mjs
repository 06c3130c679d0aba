/** Breaks processes, servers and the bus under many sessions; for the options: npm run campaign:scale -- --help */
import { testProgram } from './test-program.mjs';

const { campaign } = await testProgram('test/scale/campaign.ts');
process.exitCode = await campaign(process.argv.slice(2));
