import type { AnyAgent } from '../agent/agent.ts';
import { changedAgent } from '../agent/changed-agent.ts';
import { AgentError, invalidOption } from '../errors/agent-error.ts';
import { collectExport, exportSession } from '../exports/index.ts';
import type { InferenceDriver, InferenceRequest } from '../inference/inference-driver.ts';
import { defineTool } from '../tools/define-tool.ts';
import type { AnyTool } from '../tools/tool.ts';
import { resultText } from '../tools/tool-result.ts';
import { SessionRuntime } from '../sessions/session-runtime.ts';
import { memoryStore } from '../sessions/stores/memory/index.ts';
import { counted } from '../number-text.ts';
import { DeterministicDriver } from './deterministic-driver.ts';
import { outlineOf, type SessionOutline } from './session-outline.ts';
import type { RecordedResult, ScriptedAgent, SessionScript } from './session-script.ts';

export interface RehearseOptions {
  /** The agents, one of which has the name of the script: `config.agents`, or a list. */
  readonly agents: readonly (AnyAgent | { readonly agent: AnyAgent })[];
  /** Dependencies of tools and hooks, as in `SessionRuntime`. */
  readonly deps?: object;
}

const OWNER = { owner: 'test', wait: true } as const;

/**
 * Repeats a recorded session with a scripted model: your agent, its tools, limits and policies, and the recorded answers of
 * the models. Returns what happened. Throws if the agent asks a model more or less often than it did.
 */
export async function rehearse(
  script: SessionScript,
  options: RehearseOptions,
): Promise<SessionOutline> {
  const models = new ScriptedModels(script);
  const failures: unknown[] = [];
  const runtime = new SessionRuntime({
    store: memoryStore(),
    agents: [scripted(agentNamed(script.agent, options), script, models)],
    ...(options.deps && { deps: options.deps }),
    onError: (error) => failures.push(error),
  });
  try {
    const { id } = await runtime.create({
      owner: OWNER.owner,
      metadata: script.metadata,
      messages: script.messages,
    });
    for (const turn of script.turns) {
      if ('send' in turn) await runtime.send(id, turn.send, OWNER);
      else if ('stop' in turn) await runtime.stop(id, { ...OWNER, reason: turn.stop });
      else await runtime.resume(id, { ...OWNER, ...turn.resume });
      models.check();
    }
    models.checkEnd();
    const records = exportSession(runtime, id, { owner: OWNER.owner });
    return outlineOf(await collectExport(records));
  } catch (error) {
    models.check();
    throw failures[0] ?? error;
  } finally {
    await runtime.close({ graceMs: 0 });
  }
}

function agentNamed(name: string, { agents }: RehearseOptions): AnyAgent {
  const all = agents.map((one) => ('agent' in one ? one.agent : one));
  const found = all.find((agent) => agent.name === name);
  if (found) return found;
  throw invalidOption(
    'rehearse agents',
    all.map((agent) => agent.name).join(', '),
    `agent "${name}"`,
  );
}

function scripted(agent: AnyAgent, script: SessionScript, models: ScriptedModels): AnyAgent {
  const recorded = new Set(script.recordedTools);
  const results = new RecordedResults(script);
  const asRecorded = (tool: AnyTool): AnyTool =>
    Object.freeze({
      ...tool,
      execute: (_args: unknown, { callId }: { readonly callId: string }) =>
        results.take(tool.name, callId),
    } as AnyTool);
  return changedAgent(agent, {
    driver: (driver, path) => models.driver(driver, path),
    tool(tool) {
      return recorded.has(tool.name) && tool.agent === undefined ? asRecorded(tool) : tool;
    },
    sourced: (own) =>
      script.recordedTools
        .filter((name) => !own.has(name))
        .map((name) => asRecorded(sourcedTool(name))),
  });
}

const sourcedTool = (name: string): AnyTool =>
  defineTool({ name, description: 'Recorded.', parameters: anyObject, execute: () => null });

const anyObject = { type: 'object' } as const;

/** Recorded results, each of which is given once. */
class RecordedResults {
  readonly #left: RecordedResult[];

  constructor({ results }: SessionScript) {
    this.#left = [...results];
  }

  /** Returns what a tool returned, or throws what it threw: by the id of the call, which a nested agent may not keep. */
  take(tool: string, callId: string): unknown {
    const ofTool = this.#left.filter((one) => one.tool === tool);
    const result = ofTool.find((one) => one.callId === callId) ?? ofTool[0];
    if (!result)
      throw new AgentError(
        'script_exhausted',
        `${tool} was called more often than when the session was recorded.`,
      );
    this.#left.splice(this.#left.indexOf(result), 1);
    if (result.kind === 'ok') return result.value;
    throw new Error(resultText(result.value));
  }
}

/** The recorded answers of all agents of a session. */
class ScriptedModels {
  readonly #script: SessionScript;
  readonly #parts: readonly { readonly of: ScriptedAgent; readonly model: DeterministicDriver }[];
  #problem: AgentError | null = null;

  constructor(script: SessionScript) {
    this.#script = script;
    this.#parts = script.models.map((of) => ({
      of,
      model: DeterministicDriver.fromSteps(...of.answers),
    }));
  }

  /** Returns a driver with the names of another one, for the agent behind these tools. */
  driver(
    { name, model, contextWindow, stream }: InferenceDriver,
    path: readonly string[],
  ): InferenceDriver {
    const scripted = (request: InferenceRequest): DeterministicDriver =>
      this.#modelFor(path, request);
    return {
      name,
      ...(model !== undefined && { model }),
      ...(contextWindow !== undefined && { contextWindow }),
      infer: async (request, options) =>
        this.#noting(() => scripted(request).infer(request, options)),
      ...(stream && { stream: (request, options) => scripted(request).stream(request, options) }),
    };
  }

  /** Throws if a model was asked more often than it was when the session was recorded. */
  check(): void {
    if (this.#problem) throw this.#problem;
  }

  checkEnd(): void {
    for (const { of, model } of this.#parts)
      if (model.remaining > 0)
        throw new AgentError(
          'script_exhausted',
          `${nameOf(this.#script, of)} was asked ${counted(model.requests.length, 'time')}, and ` +
            `${of.answers.length} times when the session was recorded. Find out why it ends earlier, or export the session again.`,
        );
  }

  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (AgentError.is(error, 'script_exhausted')) this.#problem ??= error;
      throw error;
    }
  }

  #modelFor(path: readonly string[], { messages }: InferenceRequest): DeterministicDriver {
    const name = path.join('/');
    const parts = this.#parts.filter(({ of }) => of.path.join('/') === name);
    const [first] = [...messages];
    const input = first?.text ?? '';
    const fitting = parts.filter(({ of }) => of.input === null || of.input === input);
    const candidates = fitting.length > 0 ? fitting : parts;
    const found = candidates.find(({ model }) => model.remaining > 0) ?? candidates[0];
    if (found) return found.model;
    this.#problem ??= new AgentError(
      'script_exhausted',
      `The agent behind ${name} was asked, and it was not when the session was recorded.`,
    );
    throw this.#problem;
  }
}

const nameOf = ({ agent }: SessionScript, { path }: ScriptedAgent): string =>
  path.length === 0 ? `The model of ${agent}` : `The model behind ${path.join('/')}`;
