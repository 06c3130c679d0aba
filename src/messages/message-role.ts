export const MessageRole = {
  System: 'system',
  Developer: 'developer',
  User: 'user',
  Assistant: 'assistant',
  Tool: 'tool',
} as const;
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole];

export const messageRoles: readonly MessageRole[] = Object.values(MessageRole);
