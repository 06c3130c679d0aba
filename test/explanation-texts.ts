/** For each case in `explanation-cases.ts`, the text for users and the text for developers without the evaluations. */
export const explanationTexts: Readonly<
  Record<string, readonly [person: string, developer: string]>
> = {
  completed: [
    'Finished because the model answered and called no more tools.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.',
  ],
  'step limit': [
    'Stopped because it used 2 of 2 steps before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).',
  ],
  'step limit with a soft landing': [
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
    'Failed because the model provider did not answer in time 3 times in a row, and both retries are used. The error was: no answer in 60 s. To continue, try again up to 2 times.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: timeout error (no answer in 60 s), tried again 2 of 2 times.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 2 } }), or raise the count with withErrorPolicy(policy.withMaxRetries(...)).',
  ],
  'tool error': [
    'Failed because create_lead failed, and this assistant stops on tool errors. The error was: the CRM is offline. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), and the policy stops on tool errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).',
  ],
  'tool error that its own options stop on': [
    'Failed because charge failed, and this assistant stops if charge fails. The error was: the card was declined. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in charge (the card was declined), and onError of charge is stop.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or change onError of the tool charge.',
  ],
  'own retries of a tool used': [
    'Failed because lookup failed 3 times in a row, and both retries are used. The error was: the index is offline. To continue, try again up to 2 times.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: tool error in lookup (the index is offline), tried again 2 of 2 times.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 2 } }), or raise maxRetries of the tool lookup.',
  ],
  'tool retries used under the production policy': [
    'Failed because create_lead failed 6 times in a row, and all 5 retries are used. The error was: the CRM is offline. To continue, try again up to 5 times.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), tried again 5 of 5 times.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 5 } }), or raise the count with withErrorPolicy(policy.withMaxRetries(...)).',
  ],
  'tool timeout': [
    'Failed because enrich did not finish in time, and this assistant stops on timeout errors. The error was: Tool "enrich" took longer than its 5 ms. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: timeout error in enrich (Tool "enrich" took longer than its 5 ms.), and the policy stops on timeout errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).',
  ],
  'answer truncated at the length limit': [
    "Stopped because the answer reached the model's length limit. To continue, let it take 1 more step.",
    'Stopped (finish_reason) by FinishReasonCheck: the answer was cut off at the output limit (finish reason length).\nTo continue: call resume(state, { grant: { steps: 1 } }), allow more output tokens, or change the list with withFinishReasons(...).',
  ],
  'content filter': [
    "Stopped because the model provider's content filter blocked the answer. To continue, rephrase your message, or ask for something else.",
    'Stopped (finish_reason) by FinishReasonCheck: the provider filtered the answer (finish reason content_filter).\nTo continue: change the request and send it as a new message, or change the list with withFinishReasons(...).',
  ],
  refusal: [
    'Failed because the model refused to answer. The model said: I cannot help with that. To continue, rephrase your message, or ask for something else.',
    'Stopped (error) by ErrorPolicyCriterion: model error (I cannot help with that.), which is not retryable.\nTo continue: rephrase the request in a new message, or call resume(state, { grant: { retries: 1 } }).',
  ],
  'context too long': [
    'Failed because the conversation is too long for the model. The error was: maximum context length is 8192 tokens. To continue, start a new conversation.',
    'Stopped (error) by ErrorPolicyCriterion: model error (maximum context length is 8192 tokens), which is not retryable.\nTo continue: start a new session, or shorten the messages and call resume(state, { grant: { retries: 1 } }).',
  ],
  'wrong key': [
    "Failed because the model provider rejected this assistant's API key. The error was: 401 invalid key. To continue, ask the operator to correct the API key.",
    'Stopped (error) by ErrorPolicyCriterion: model error (401 invalid key), which is not retryable.\nTo continue: set a valid API key, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'quota exceeded': [
    "Failed because this assistant's account at the model provider has no quota left. The error was: You exceeded your current quota. To continue, ask the operator to raise the quota at the model provider.",
    'Stopped (error) by ErrorPolicyCriterion: rate limit error (You exceeded your current quota.), which is not retryable.\nTo continue: raise the quota at the model provider, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'provider down': [
    'Failed because the model provider had a server error, and this assistant stops on model errors. The error was: 502 Bad Gateway. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: model error (502 Bad Gateway), and the policy stops on model errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).',
  ],
  'rate limit': [
    'Failed because the model provider received too many requests, and this assistant stops on rate limit errors. The error was: 429. To continue, wait until 2026-01-16 12:00:20 UTC, as the model provider asks, then try again.',
    'Stopped (error) by ErrorPolicyCriterion: rate limit error (429), and the policy stops on rate limit errors.\nTo continue: wait until 2026-01-16T12:00:20.000Z, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).',
  ],
  'rate limit after all retries': [
    'Failed because the model provider was overloaded twice in a row, and its only retry is used. The error was: 529. To continue, wait until 2026-01-16 12:02:30 UTC, as the model provider asks, then try again.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: rate limit error (529), tried again 1 of 1 times.\nTo continue: wait until 2026-01-16T12:02:30.000Z, then call resume(state, { grant: { retries: 1 } }), or raise the count with withErrorPolicy(policy.withMaxRetries(...)).',
  ],
  'provider down with a retry time': [
    'Failed because the model provider had a server error, and this assistant stops on model errors. The error was: 503 Service Unavailable. To continue, wait until 2026-01-16 12:02:00 UTC, as the model provider asks, then try again.',
    'Stopped (error) by ErrorPolicyCriterion: model error (503 Service Unavailable), and the policy stops on model errors.\nTo continue: wait until 2026-01-16T12:02:00.000Z, then call resume(state, { grant: { retries: 1 } }), or retry these errors with withErrorPolicy(ErrorPolicy.production()).',
  ],
  'quota exceeded with a reset time': [
    "Failed because this assistant's account at the model provider has no quota left. The error was: Daily quota reached. To continue, wait until 2026-01-17 00:00:00 UTC, as the model provider asks, then try again.",
    'Stopped (error) by ErrorPolicyCriterion: rate limit error (Daily quota reached.), which is not retryable.\nTo continue: wait until 2026-01-17T00:00:00.000Z, then call resume(state, { grant: { retries: 1 } }), or raise the quota at the model provider first.',
  ],
  'stopped by the user': [
    'Stopped because a stop was requested: Mira pressed stop. To continue, let it take 1 more step.',
    'Stopped (user_requested) by StopRequestCheck: Mira pressed stop.\nTo continue: call resume(state, { grant: { steps: 1 } }), or send a new message.',
  ],
  'denied approval': [
    'Finished because the model answered and called no more tools. delete_lead was denied and did not run. To run it, ask again and approve.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.\ndelete_lead was denied and did not run. To run it, ask again and approve.',
  ],
  'denied approvals by a named approver, then the step limit': [
    'Stopped because it used 3 of 3 steps before the model read a tool result. delete_lead and charge were denied by Mira and did not run. To run them, ask again and approve. To continue, add 3 steps.',
    'Stopped (steps_limit) by StepsLimit: 3 of 3 steps used while work is still pending.\ndelete_lead and charge were denied by Mira and did not run. To run them, ask again and approve.\nTo continue: call resume(state, { grant: { steps: 3 } }), or raise the limit with withMaxSteps(...).',
  ],
  'approved after a denial': [
    'Finished because the model answered and called no more tools.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.',
  ],
  'nested agent stopped by its limit': [
    'Finished because the model answered and called no more tools. The agent researcher stopped early: it reached the step limit.',
    'Completed (ToolCallPresenceCheck): the answer asks for no tools.\nThe agent researcher stopped early: it reached the step limit.',
  ],
  'stopped again after a grant': [
    'Stopped because it used 5 of 5 steps (2 + 3 granted) before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 5 of 5 steps (2 + 3 granted) used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxSteps(...).',
  ],
  'error on the last allowed step': [
    'Failed because create_lead failed, and this assistant stops on tool errors. The error was: the CRM is offline. It also used 2 of 2 steps. To continue, add 2 steps and 1 retry.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), and the policy stops on tool errors.\nTo continue: call resume(state, { grant: { steps: 2, retries: 1 } }).',
  ],
  'family step limit': [
    'Stopped because it and its agents used 2 of 2 steps, 1 of them by researcher, before the model read a tool result. The agent researcher stopped early: it reached the step limit. To continue, add 2 steps.',
    'Stopped (steps_limit) by FamilyStepsLimit: 2 of 2 steps of all agents used while work is still pending, 1 of them by researcher.\nThe agent researcher stopped early: it reached the step limit.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with withMaxFamilySteps(...).',
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
    "Failed because one of this assistant's rules does not work. To continue, ask the operator to fix this assistant.",
    'Stopped (error) by BudgetCheck: BudgetCheck threw: no budget table.\nTo continue: fix the criterion BudgetCheck, then send a new message.',
  ],
  'custom criterion': [
    "Stopped because one of this assistant's rules ended it. The rule says: The office is closed. To continue, send a new message.",
    'Stopped (guard) by OfficeHours: The office is closed.\nTo continue: send a new message.',
  ],
  'message that a guard blocked': [
    'Stopped because a guard of this assistant blocked the message. The guard says: a card number. To continue, rephrase your message, or ask for something else.',
    'Stopped (guard) by no-cards: a card number.\nTo continue: send a new message; the guard "no-cards" blocked the message.',
  ],
  'answer that a guard held back': [
    'Stopped because a guard of this assistant held back the answer. Ask sales for prices. To continue, rephrase your message, or ask for something else.',
    'Stopped (guard) by no-prices: a price.\nTo continue: send a new message; the guard "no-prices" blocked the answer.',
  ],
  'calls that a guard blocked': [
    'Stopped because a guard of this assistant blocked search and delete_lead before anything ran. The guard says: it deletes. To continue, send a new message that says what to do instead.',
    'Stopped (guard) by no-deletes: it deletes.\nTo continue: send a new message; the guard "no-deletes" blocked the calls.',
  ],
  'guard that threw': [
    'Stopped because a guard of this assistant could not check the answer. Nothing was let through. The error was: the classifier is offline. To continue, send the message again.',
    'Stopped (guard) by no-prices: the guard could not check the answer: the classifier is offline.\nTo continue: fix the guard "no-prices", or let it pass with onError: \'pass\', then send a new message.',
  ],
  'guard that was too slow': [
    'Stopped because a guard of this assistant could not check the message. It did not answer in time, so nothing was let through. To continue, send the message again.',
    'Stopped (guard) by no-cards: the guard could not check the message: it did not finish in 5 ms.\nTo continue: fix the guard "no-cards", or let it pass with onError: \'pass\', then send a new message.',
  ],
  'tool that asked to stop': [
    'Stopped because hand_off asked to stop: a person takes over. To continue, send a new message.',
    'Stopped (guard) by StopRequestCheck: a person takes over.\nTo continue: send a new message; a tool asked for this stop.',
  ],
  'wait longer than the deadline': [
    'Stopped because the next try cannot begin before 2026-01-16 12:00:45 UTC, and the limit of 30 seconds ends first. To continue, wait until 2026-01-16 12:00:45 UTC, as the model provider asks, then add 30 seconds.',
    'Stopped (time_limit) by CumulativeExecutionTimeLimit: 0 of 30 working seconds used, and the next try would have to wait 45 seconds.\nTo continue: wait until 2026-01-16T12:00:45.000Z, then call resume(state, { grant: { seconds: 30 } }), or raise the limit with withCumulativeTimeout({ seconds }).',
  ],
  'hook that threw': [
    'Failed because part of this assistant does not work. To continue, ask the operator to fix this assistant.',
    'Stopped (error) by audit: Hook "audit" threw in aroundExecution: the audit log is full.\nTo continue: fix the hook audit, then send a new message.',
  ],
  'step limit of createAgent': [
    'Stopped because it used 2 of 2 steps before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with maxSteps.',
  ],
  'token, cost and time limit of createAgent': [
    'Stopped because it worked for 40 of 30 seconds. It also used 1,600 of 1,500 tokens. It also spent $0.06 of $0.05. To continue, add 2,500 tokens, $0.10 and 60 seconds.',
    'Stopped (time_limit) by ExecutionTimeLimit: 40 of 30 seconds used while work is still pending.\nTo continue: call resume(state, { grant: { tokens: 2500, cost: 0.1, seconds: 60 } }), or raise the limits with maxTokens, maxCost and timeout: { seconds }.',
  ],
  'working time limit of createAgent': [
    'Stopped because it worked for 40 of 30 seconds. To continue, add 70 seconds.',
    'Stopped (time_limit) by CumulativeExecutionTimeLimit: 40 of 30 working seconds used while work is still pending.\nTo continue: call resume(state, { grant: { seconds: 70 } }), or raise the limit with cumulativeTimeout: { seconds }.',
  ],
  'retry limit of createAgent': [
    'Failed because the model provider had a server error twice in a row, and its only retry is used. The error was: 502. To continue, try again.',
    'Stopped (retry_limit) by ErrorPolicyCriterion: model error (502), tried again 1 of 1 times.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or raise the count with errorPolicy: policy.withMaxRetries(...).',
  ],
  'tool error of createAgent': [
    'Failed because create_lead failed, and this assistant stops on tool errors. The error was: the CRM is offline. To continue, try again.',
    'Stopped (error) by ErrorPolicyCriterion: tool error in create_lead (the CRM is offline), and the policy stops on tool errors.\nTo continue: fix the cause, then call resume(state, { grant: { retries: 1 } }), or retry these errors with errorPolicy: ErrorPolicy.production().',
  ],
  'truncated answer of createAgent': [
    "Stopped because the answer reached the model's length limit. To continue, let it take 1 more step.",
    'Stopped (finish_reason) by FinishReasonCheck: the answer was cut off at the output limit (finish reason length).\nTo continue: call resume(state, { grant: { steps: 1 } }), allow more output tokens, or change the list with finishReasons.',
  ],
  'unknown model of createAgent': [
    "Failed because the model provider does not have this assistant's model. The error was: no such model. To continue, ask the operator to choose another model.",
    'Stopped (error) by ErrorPolicyCriterion: model error (no such model), which is not retryable.\nTo continue: change model to a model that exists, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'unknown model of the builder': [
    "Failed because the model provider does not have this assistant's model. The error was: no such model. To continue, ask the operator to choose another model.",
    'Stopped (error) by ErrorPolicyCriterion: model error (no such model), which is not retryable.\nTo continue: change withModel(...) to a model that exists, then call resume(state, { grant: { retries: 1 } }).',
  ],
  'step limit of a criterion by hand': [
    'Stopped because it used 2 of 2 steps before the model read a tool result. To continue, add 2 steps.',
    'Stopped (steps_limit) by StepsLimit: 2 of 2 steps used while work is still pending.\nTo continue: call resume(state, { grant: { steps: 2 } }), or raise the limit with stepsLimit(...).',
  ],
  'paused for input': [
    'Waiting because book_table needs an answer. To continue, answer the question of book_table.',
    "call resume(state, { inputs: { [inputId]: { action: 'accept', content } } }), or 'decline' or 'cancel'.",
  ],
  'paused for several inputs': [
    'Waiting because 2 questions need answers: book_table. To continue, answer each of the questions.',
    "call resume(state, { inputs: { [inputId]: { action: 'accept', content } } }), or 'decline' or 'cancel'.",
  ],
  'paused for approval': [
    'Waiting because delete_lead needs approval. To continue, approve or deny delete_lead.',
    'call resume(state, { approvals: { [callId]: { approve: true } } }), or { deny: reason }.',
  ],
  'paused for several approvals': [
    'Waiting because 2 calls need approval: delete_lead. To continue, approve or deny each of the calls.',
    'call resume(state, { approvals: { [callId]: { approve: true } } }), or { deny: reason }.',
  ],
  'paused on request': [
    'Waiting because it was paused on request. To continue, resume it.',
    'call resume(state).',
  ],
};
