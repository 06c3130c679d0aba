import type { BroadcastStatus } from '../agent/agent-status.ts';
import { hiddenText } from '../events/hidden-args.ts';
import { timeText } from '../continuation/time-text.ts';
import type { Grants } from '../continuation/grants.ts';
import { addText, grantLabel } from '../continuation/grant-text.ts';
import { countText } from '../number-text.ts';
import { visibleName } from '../visible-text.ts';
import type { InputFieldProblem } from '../ui/input-fields.ts';
import { eventText } from '../ui/event-text.ts';
import type { UiEvent } from '../ui/ui-message.ts';
import type { ArgumentChange } from './argument-fields.ts';
import { attachmentProblemText } from './attachment-problem-text.ts';
import { inputProblemText } from './input-problem-text.ts';
import type { AttachmentLimits, AttachmentProblem } from './read-attachments.ts';

/** All texts of the components. Pass your own for another language. */
export interface AgentLabels {
  readonly conversation: string;
  readonly empty: string;
  readonly newBelow: string;
  readonly you: string;
  readonly assistant: string;
  readonly status: Readonly<Record<BroadcastStatus, string>>;
  readonly connecting: string;
  readonly offline: string;
  readonly details: string;
  /** Title of the folded block with the model's reasoning. */
  readonly reasoning: string;
  readonly toolStates: Readonly<Record<ToolState, string>>;
  /** State of a tool call; `writing` while the model writes it. */
  readonly unnamedTool: string;
  readonly toolArgs: string;
  readonly toolResult: string;
  readonly toolError: string;
  readonly none: string;
  readonly showAll: string;
  readonly showLines: (lines: number) => string;
  readonly loading: string;
  /** Text beside the button that shows the summary of earlier messages. */
  readonly summary: string;
  readonly showSummary: string;
  readonly hideSummary: string;
  readonly cut: string;
  /** Says what happened between messages, such as a stop and a grant. */
  readonly event: (event: UiEvent) => string;
  readonly approvalTitle: (tool: string) => string;
  readonly approvalHint: string;
  /** Text about hidden values, from JSON pointers to them; `''` means anywhere. */
  readonly hiddenArgs: (places: readonly string[]) => string;
  readonly approve: string;
  /** Title of a table of calls of one tool. */
  readonly allowMany: (count: number, tool: string) => string;
  readonly approveSelected: (count: number) => string;
  readonly denySelected: (count: number) => string;
  readonly selectAll: string;
  readonly selectCall: (name: string) => string;
  readonly agentColumn: string;
  readonly editShort: string;
  readonly sameForAll: (count: number) => string;
  /** Says how many arguments have no column. */
  readonly moreArguments: (count: number) => string;
  readonly reviewEach: string;
  readonly reviewTogether: string;
  readonly answerAll: (count: number) => string;
  /** Offers to approve later calls of the tool too. */
  readonly alwaysAllow: (tool: string) => string;
  readonly approveAll: (count: number) => string;
  readonly approveEdited: string;
  readonly edit: string;
  readonly editArgs: string;
  readonly editHint: string;
  /** Buttons that switch the editor: all arguments as one JSON text, or a field for each. */
  readonly editJson: string;
  readonly editFields: string;
  readonly changes: (changes: readonly ArgumentChange[]) => string;
  readonly notNumber: string;
  readonly notJson: (problem: string) => string;
  readonly notAnObject: string;
  readonly cancel: string;
  readonly deny: string;
  readonly denyReason: string;
  readonly denyHint: string;
  readonly answering: string;
  readonly answered: string;
  readonly denied: string;
  /** Replaces the error if another answer came first. */
  readonly answeredBefore: string;
  /** Replaces the error if another call needs approval now. */
  readonly staleApproval: string;
  /** Title of a question of a tool. */
  readonly inputTitle: (tool: string) => string;
  readonly inputSubmit: string;
  /** Says that the user has done what the address asked for. */
  readonly inputFinished: string;
  readonly decline: string;
  readonly inputAnswered: string;
  readonly inputJson: string;
  readonly inputJsonHint: string;
  readonly inputOpen: string;
  /** Warns about an address that a tool asks to open. */
  readonly inputWarning: (tool: string, host: string) => string;
  readonly inputProblem: (problem: InputFieldProblem) => string;
  readonly required: string;
  readonly choose: string;
  readonly yes: string;
  readonly no: string;
  /** `text` is the sentence of the explanation; absent if the user may grant only a part of what it asks for. */
  readonly toContinue: (grant: Grants, text?: string) => string;
  /** In place of `toContinue`, where that makes sense only from an ISO time on. */
  readonly waitUntil: (until: string, grant: Grants, text?: string) => string;
  readonly grant: (grant: Grants) => string;
  /** Replaces a grant once the user may grant no more. */
  readonly operatorNeeded: string;
  readonly resume: string;
  /** Of a session that was given up after failures. */
  readonly retrySession: string;
  readonly resuming: string;
  readonly decidedBy: (criterion: string) => string;
  readonly tokens: (total: number) => string;
  readonly tokenParts: (input: number, output: number) => string;
  readonly steps: (steps: number) => string;
  readonly message: string;
  readonly placeholder: string;
  readonly placeholderStopped: string;
  readonly send: string;
  /** Button that chooses images and files. */
  readonly attach: string;
  readonly attachments: string;
  readonly removeFile: (name: string) => string;
  readonly notAttached: (problem: AttachmentProblem, limits: AttachmentLimits) => string;
  readonly busy: string;
  readonly answerFirst: string;
  readonly answerQuestion: string;
  readonly stop: string;
  readonly stopping: string;
  readonly notSent: (problem: string) => string;
  readonly failed: (problem: string) => string;
  readonly retry: string;
  readonly discard: string;
  readonly dismiss: string;
}

/** State of a tool call. */
export type ToolState =
  | 'writing'
  | 'next'
  | 'running'
  | 'waiting'
  | 'asking'
  | 'done'
  | 'error'
  | 'open';

/** The texts of the components, in English. Pass others with `labels`. */
export const defaultLabels: AgentLabels = {
  conversation: 'Conversation',
  empty: 'No messages yet.',
  newBelow: 'New below',
  you: 'You',
  assistant: 'Assistant',
  status: {
    idle: 'Ready',
    processing: 'Working',
    paused: 'Paused',
    completed: 'Completed',
    stopped: 'Stopped',
    cancelled: 'Cancelled',
    failed: 'Failed',
  },
  connecting: 'Connecting…',
  offline: 'Not connected. What you see may be out of date.',
  details: 'Details',
  reasoning: 'Reasoning',
  toolStates: {
    writing: 'writing arguments…',
    next: 'runs next',
    running: 'running',
    waiting: 'needs approval',
    asking: 'needs an answer',
    done: 'done',
    error: 'failed',
    open: 'no result',
  },
  unnamedTool: 'tool call',
  toolArgs: 'Arguments',
  toolResult: 'Result',
  toolError: 'Error',
  none: 'none',
  showAll: 'Show all',
  showLines: (lines) => `Show all ${countText(lines)} lines`,
  loading: 'Loading…',
  summary: 'The whole conversation is kept. The model is sent a summary.',
  showSummary: 'Show summary',
  hideSummary: 'Hide summary',
  cut: 'Only the beginning is shown.',
  event: eventText,
  approvalTitle: (tool) => `Run ${tool}?`,
  hiddenArgs: (places) => `${hiddenText(places) ?? ''} The tool gets the hidden values.`,
  approvalHint: 'Nothing has run yet. The tool runs only if you approve it.',
  approve: 'Approve',
  allowMany: (count, tool) => `Allow ${countText(count)} ${tool} calls?`,
  approveSelected: (count) => `Approve ${countText(count)} selected`,
  denySelected: (count) => `Deny ${countText(count)} selected`,
  selectAll: 'Select all',
  selectCall: (name) => `Select ${name}`,
  agentColumn: 'agent',
  editShort: 'Edit',
  sameForAll: (count) => `Same for all ${countText(count)}:`,
  moreArguments: (count) =>
    count === 1 ? '1 more argument differs.' : `${countText(count)} more arguments differ.`,
  reviewEach: 'Review one by one',
  reviewTogether: 'Show as a table',
  answerAll: (count) =>
    `The run continues when all ${countText(count)} are answered. Calls you leave unchecked stay open.`,
  alwaysAllow: (tool) => `Always allow ${tool} in this session`,
  approveAll: (count) => `Approve all ${countText(count)}`,
  approveEdited: 'Approve with changes',
  edit: 'Edit arguments',
  editArgs: 'Arguments as JSON',
  editHint: 'They are checked against the tool’s schema again before it runs.',
  editJson: 'Edit as JSON',
  editFields: 'Edit as fields',
  changes: (changes) =>
    changes.length === 0
      ? 'No changes.'
      : `Changed: ${changes.map(({ name }) => visibleName(name)).join(', ')}.`,
  notNumber: 'This is not a number.',
  notJson: (problem) => `This is not JSON: ${problem}`,
  notAnObject: 'Arguments must be an object, such as { "id": 7 }.',
  cancel: 'Cancel',
  deny: 'Deny',
  denyReason: 'Reason for denying',
  denyHint: 'Reason for denying (the assistant reads it)',
  answering: 'Sending…',
  answered: 'Approved. The run continues in a moment.',
  denied: 'Denied. The model reads the reason.',
  answeredBefore:
    'Already answered, in another tab or by another person. Your answer was not used.',
  staleApproval: 'A different call needs approval now. Your answer was not used. Reload the page.',
  inputTitle: (tool) => `${visibleName(tool)} asks you`,
  inputSubmit: 'Submit',
  inputFinished: 'I have finished',
  decline: 'Decline',
  inputAnswered: 'Answered. The run continues in a moment.',
  inputJson: 'Answer as JSON',
  inputJsonHint: 'This question has no simple form. Write the answer as a JSON object.',
  inputOpen: 'Open this address in a new tab',
  inputWarning: (tool, host) =>
    `The tool ${tool} sent this address. Open it only if you expect ${host} and trust it.`,
  inputProblem: inputProblemText,
  required: 'required',
  choose: 'Choose…',
  yes: 'Yes',
  no: 'No',
  toContinue: (grant, text = `To continue, ${addText(grant)}.`) => text,
  waitUntil: (
    until,
    grant,
    text = `To continue, wait until ${timeText(until)}, then ${addText(grant)}.`,
  ) => text,
  grant: grantLabel,
  operatorNeeded: 'To continue, ask an operator for more, or send a new message.',
  resume: 'Resume',
  retrySession: 'Retry',
  resuming: 'Continuing…',
  decidedBy: (criterion) => `decided by ${criterion}`,
  tokens: (total) => `${countText(total)} tokens`,
  tokenParts: (input, output) => `${countText(input)} in, ${countText(output)} out`,
  steps: (steps) => (steps === 1 ? '1 step' : `${countText(steps)} steps`),
  message: 'Message',
  placeholder: 'Write a message',
  placeholderStopped: 'Send a new message instead',
  send: 'Send',
  attach: 'Attach images or files',
  attachments: 'Attachments',
  removeFile: (name) => `Remove ${name}`,
  notAttached: attachmentProblemText,
  busy: 'You can send a message when the run has ended.',
  answerFirst: 'Approve or deny the call above first.',
  answerQuestion: 'Answer the question above first.',
  stop: 'Stop',
  stopping: 'Stopping…',
  notSent: (problem) => `Not sent: ${problem}`,
  failed: (problem) => `It failed: ${problem}`,
  retry: 'Try again',
  discard: 'Discard',
  dismiss: 'Dismiss',
};
