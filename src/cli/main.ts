#!/usr/bin/env node
import { processIo } from './process-io.ts';
import { runCli } from './cli.ts';

const { io, flush } = processIo();
const code = await runCli(process.argv.slice(2), io);
await flush();
// what a model or a tool left open does not hold the command back
process.exit(code);
