/** Names of the criteria that come with Onward; every other criterion is the user's own. */
export const builtInCriteria: ReadonlySet<string> = new Set([
  'ContinuationCriteria',
  'CostLimit',
  'CumulativeExecutionTimeLimit',
  'ErrorPolicyCriterion',
  'ExecutionTimeLimit',
  'FamilyStepsLimit',
  'FinishReasonCheck',
  'NoProgressLimit',
  'ResponseContentCheck',
  'SessionCostLimit',
  'SessionStepsLimit',
  'SessionTimeLimit',
  'SessionTokenUsageLimit',
  'StepsLimit',
  'StopRequestCheck',
  'TokenUsageLimit',
  'ToolCallPresenceCheck',
  'ToolCalledCheck',
]);

export const isCustomCriterion = (name: string): boolean => !builtInCriteria.has(name);
