import { defineTool, type ToolContext } from 'onward';
import { DeterministicDriver } from 'onward/testing';
import * as z from 'zod';

export interface Crm {
  find(partner: string): Promise<{ id: string; since: Date }[]>;
}
export interface Mailer {
  send(to: string, text: string): Promise<void>;
}
export interface Audit {
  write(line: string): void;
}

export const findLeads = defineTool({
  name: 'find_leads',
  description: 'Finds leads of a partner.',
  parameters: z.object({ partner: z.string(), limit: z.number().default(10) }),
  execute: async ({ partner, limit }, { deps }: ToolContext<{ crm: Crm }>) =>
    (await deps.crm.find(partner)).slice(0, limit),
});

export const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: z.object({ to: z.string(), text: z.string() }),
  needsApproval: ({ to }) => to.endsWith('@example.com'),
  execute: ({ to, text }, { deps }: ToolContext<{ mailer: Mailer }>) => deps.mailer.send(to, text),
});

export const clock = defineTool({
  name: 'clock',
  description: 'Returns the time.',
  execute: () => '09:30',
});

export const Invoice = z.object({
  total: z.number(),
  lines: z.array(z.object({ text: z.string(), amount: z.number() })),
});
export type Invoice = z.infer<typeof Invoice>;

export const driver = DeterministicDriver.fromResponses('hello');
export declare const crm: Crm;
export declare const mailer: Mailer;
export declare const audit: Audit;

// oxlint-disable typescript/no-unnecessary-type-parameters -- two generic functions are the same only if A and B are
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if both types are the same. */
export const same = <A, B>(
  ..._proof: Same<A, B> extends true ? [] : [{ readonly expected: B; readonly got: A }]
): void => {};
