import { context, diag, trace } from '@opentelemetry/api';
import type { Capability } from '../agent/hooks.ts';
import type { RunObservation, RunObserver } from '../agent/run-observer.ts';
import type { Run } from '../agent/run.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { instruments } from './instruments.ts';
import { RunRecorder } from './run-recorder.ts';
import { hasTracing, traceparentOf } from './tracing.ts';

export interface TelemetryOptions {
  /**
   * Whether spans hold prompts, answers, arguments, results and error messages: `redacted` by the redactor of the agent,
   * and truncated. Default `none`.
   */
  readonly captureContent?: 'none' | 'redacted';
}

/**
 * Records the runs of an agent, and of agents behind its tools, as OpenTelemetry spans and metrics. Does nothing until
 * an SDK is registered.
 */
export function telemetry({ captureContent = 'none' }: TelemetryOptions = {}): Capability<
  {},
  never
> {
  if (captureContent !== 'none' && captureContent !== 'redacted')
    throw invalidOption('telemetry captureContent', captureContent, `'none' or 'redacted'`);
  return { name: 'telemetry', observer: new Telemetry(captureContent === 'redacted') };
}

class Telemetry implements RunObserver {
  readonly #captures: boolean;

  constructor(captures: boolean) {
    this.#captures = captures;
  }

  begin(run: Run, isResumed: boolean): RunObservation | null {
    try {
      const metered = instruments();
      if (metered === null && !hasTracing()) return hint();
      return new RunRecorder(run, isResumed, { instruments: metered, captures: this.#captures });
    } catch (error) {
      diag.error('onward: a run is not recorded, because the OpenTelemetry SDK failed.', error);
      return null;
    }
  }

  traceparent(): string | null {
    return traceparentOf(trace.getSpanContext(context.active()));
  }
}

let hasHinted = false;

/** Says once in the debug log of OpenTelemetry why nothing is recorded. */
function hint(): null {
  if (!hasHinted)
    diag.debug(
      'onward: telemetry() records nothing, because no OpenTelemetry SDK is registered. See docs/observability.md.',
    );
  hasHinted = true;
  return null;
}
