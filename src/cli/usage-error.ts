import { AgentError } from '../errors/agent-error.ts';
import { exitCodeNamed } from './exit-codes.ts';

/** The command line asks for something that does not fit; the message says what would. */
export const usageError = (message: string, details: Record<string, unknown> = {}): AgentError =>
  new AgentError('invalid_option', message, {
    details: { ...details, exitCode: exitCodeNamed('usage') },
  });
