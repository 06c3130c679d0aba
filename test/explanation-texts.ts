/** For each case of `explanation-cases.ts`: what a person reads, and what a developer reads above the evaluations. */
export const explanationTexts: Readonly<
  Record<string, readonly [person: string, developer: string]>
> = {
  completed: [
    'Finished because the model answered and called no more tools.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.',
  ],
  'steps limit': [
    'Stopped because it used 2 of 2 steps before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).',
  ],
  'steps limit with a soft landing': [
    'Stopped because it used 2 of 2 steps. It answered with what it had. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 2 of 2 steps used, and this last step was kept for an answer without tools.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).',
  ],
  'token limit': [
    'Stopped because it used 1,600 of 1,500 tokens. To continue, add 1,600 tokens.',
    'Stopped (token_limit) by TokenUsageLimit: 1600 of 1500 tokens used while work is still pending.\nTo continue: call resume(state, { grant: { tokens: 1600 } }), or raise the limit with withMaxTokens(...).',
  ],
  'cost limit': [
    'Stopped because it spent $0.06 of $0.05. To continue, add $0.06.',
    'Stopped (guard) by CostLimit: 0.06 of 0.05 cost units used while work is still pending.\nTo continue: call resume(state, { grant: { cost: 0.06 } }), or raise the limit with withMaxCost(...).',
  ],
  'time limit': [
    'Stopped because it worked for 30 of 30 seconds. To continue, add 45 seconds.',
    'Stopped (time_limit) by ExecutionTimeLimit: 30 of 30 seconds used while work is still pending.\nTo continue: call resume(state, { grant: { seconds: 45 } }), or raise the limit with withTimeout({ seconds }).',
  ],
  'retry limit': [
    'Failed because the model provider did not answer in time, 3 times in a row, and all 2 retries are used. The error was: no answer in 60 s. To continue, try again up to 2 times.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: timeout error (no answer in 60 s), tried again 2 of 2 times.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 2 } }), or raise the count with withErrorPolicy(policy.withMaxRetries(...)).',
  ],
  'tool error': [
    'Failed because create_lead failed, and this assistant stops on tool errors. The error was: the CRM is offline. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), and the policy stops on tool errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.retryToolErrors(3)).',
  ],
  'tool timeout': [
    'Failed because enrich did not finish in time, and this assistant stops on timeout errors. The error was: Tool "enrich" took longer than its 5 ms. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: timeout error in enrich (Tool "enrich" took longer than its 5 ms.), and the policy stops on timeout errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.retryToolErrors(3)).',
  ],
  'answer cut at the length limit': [
    'Stopped because the answer reached the length limit of the model. To continue, add 1 step.',
    'Stopped (finish_reason) by FinishReasonCheck: the answer was cut off at the output limit (finish reason length).\nTo continue: call resume(state, { grant: { steps: 1 } }), allow more output tokens, or change the list with withFinishReasons(...).',
  ],
  'content filter': [
    'Stopped because the content filter of the model provider cut the answer. To continue, ask for something else, or in other words.',
    'Stopped (finish_reason) by FinishReasonCheck: the provider filtered the answer (finish reason content_filter).\nTo continue: change the request and send it as a new message, or change the list with withFinishReasons(...).',
  ],
  refusal: [
    'Failed because the model refused to answer. The model said: I cannot help with that. To continue, ask for something else, or in other words.',
    'Stopped (error) by ErrorPolicyCriterion: model error (I cannot help with that.), which is not retryable.\nTo continue: send a new message in other words, or call resume(state, { grant: { retries: 1 } }).',
  ],
  'context too long': [
    'Failed because the conversation is too long for the model. The error was: maximum context length is 8192 tokens. To continue, start a new conversation.',
    'Stopped (error) by ErrorPolicyCriterion: model error (maximum context length is 8192 tokens), which is not retryable.\nTo continue: start a new session, or shorten the messages and call resume(state, { grant: { retries: 1 } }).',
  ],
  'wrong key': [
    'Failed because the model provider did not accept the API key of this assistant. The error was: 401 invalid key. To continue, ask the operator to correct the API key.',
    'Stopped (error) by ErrorPolicyCriterion: model error (401 invalid key), which is not retryable.\nTo continue: set a valid API key, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'spent quota': [
    'Failed because the account of this assistant at the model provider has no quota left. The error was: You exceeded your current quota. To continue, ask the operator to raise the quota at the model provider.',
    'Stopped (error) by ErrorPolicyCriterion: rate limit error (You exceeded your current quota.), which is not retryable.\nTo continue: raise the quota at the model provider, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'provider down': [
    'Failed because the model provider failed, and this assistant stops on model errors. The error was: 502 Bad Gateway. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: model error (502 Bad Gateway), and the policy stops on model errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.retryAll()).',
  ],
  'stopped by the user': [
    'Stopped because a stop was requested: Mira pressed stop. To continue, add 1 step.',
    'Stopped (user_requested) by StopRequestCheck: Mira pressed stop.\nTo continue: call resume(state, { grant: { steps: 1 } }), or send a new message.',
  ],
  'denied approval': [
    'Finished because the model answered and called no more tools.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.',
  ],
  'nested agent stopped by its limit': [
    'Finished because the model answered and called no more tools. The agent researcher stopped early: it reached its limit of steps.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.\nThe agent researcher stopped early: it reached its limit of steps.',
  ],
  'stopped again after a grant': [
    'Stopped because it used 5 of 5 steps (2 + 3 granted) before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 5 of 5 steps (2 + 3 granted) used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).',
  ],
  'error on the last allowed step': [
    'Failed because create_lead failed, and this assistant stops on tool errors. The error was: the CRM is offline. It also used 2 of 2 steps. To continue, add 2 steps and 1 retry.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), and the policy stops on tool errors.\nTo continue: call resume(state, { grant: { steps: 2, retries: 1 } }).',
  ],
  'session limit': [
    'Stopped because this conversation used 2 of 2 steps before the model read a tool result. To continue, start a new conversation.',
    'Stopped (steps_limit) by SessionStepsLimit: 2 of 2 steps of the session used while work is still pending.\nTo continue: raise the limit with sessionStepsLimit(...), then send a new message.',
  ],
  'no progress': [
    'Stopped because search gave the same result 3 times in a row. To continue, send a new message that says what to do instead.',
    'Stopped (guard) by NoProgressLimit: search was called 3 times in a row with the same arguments and the same result, and the limit is 3.\nTo continue: send a new message that says what to do instead, make search return more, or raise noProgressLimit(...).',
  ],
  'criterion that threw': [
    'Failed because one of the rules of this assistant does not work. To continue, ask the operator to repair this assistant.',
    'Stopped (error) by BudgetCheck: BudgetCheck threw: no budget table.\nTo continue: fix the criterion BudgetCheck, then send a new message.',
  ],
  'criterion of your own': [
    'Stopped because a rule of this assistant ended it. The rule says: The office is closed. To continue, send a new message.',
    'Stopped (guard) by OfficeHours: The office is closed.\nTo continue: send a new message.',
  ],
  'tool that asked to stop': [
    'Stopped because hand_off asked to stop: a person takes over. To continue, send a new message.',
    'Stopped (guard) by StopRequestCheck: a person takes over.\nTo continue: send a new message; a tool asked for this stop.',
  ],
  'wait longer than the deadline': [
    'Stopped because the next try has to wait until 2026-01-16 12:00:45 UTC, which is longer than the limit of 30 seconds allows. To continue, wait until 2026-01-16 12:00:45 UTC, then add 30 seconds.',
    'Stopped (time_limit) by CumulativeExecutionTimeLimit: 0 of 30 working seconds used, and the next try would have to wait 45 seconds.\nTo continue: wait until 2026-01-16T12:00:45.000Z, then call resume(state, { grant: { seconds: 30 } }), or raise the limit with withCumulativeTimeout({ seconds }).',
  ],
  'hook that threw': [
    'Failed because a part of this assistant does not work. To continue, ask the operator to repair this assistant.',
    'Stopped (error) by audit: Hook "audit" threw in aroundExecution: the audit log is full.\nTo continue: fix the hook audit, then send a new message.',
  ],
  'paused for approval': [
    'Waiting because delete_lead needs approval. To continue, approve or deny delete_lead.',
    'call resume(state, { approvals: { [callId]: { approve: true } } }), or { deny: reason }.',
  ],
  'paused on request': [
    'Waiting because it was paused on request. To continue, resume it.',
    'call resume(state).',
  ],
};
