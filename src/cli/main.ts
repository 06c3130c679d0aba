#!/usr/bin/env node
import { processIo } from './process-io.ts';
import { runCli } from './cli.ts';

const { io, flush } = processIo();
const code = await runCli(process.argv.slice(2), io);
await flush();
// open handles of a model or a tool do not keep the command alive
process.exit(code);
