import { AgentError } from '../errors/agent-error.ts';
import { exitCodeNamed } from './exit-codes.ts';

/** Creates an error for wrong arguments; its message says what to type. */
export const usageError = (message: string, details: Record<string, unknown> = {}): AgentError =>
  new AgentError('invalid_option', message, {
    details: { ...details, exitCode: exitCodeNamed('usage') },
  });
