// @vitest-environment happy-dom
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useRef, useState, type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { InputForm, InputList } from '../../src/react/index.ts';
import type { UiInput } from '../../src/ui/ui-state.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { failed } from './component-fixtures.ts';

afterEach(cleanup);

const question: UiInput = {
  tool: 'book_table',
  tool_call_id: 'call_1',
  input_id: 'call_1/table',
  key: 'table',
  message: 'How many?',
  schema: {
    type: 'object',
    properties: {
      guests: { type: 'integer', title: 'Guests', description: 'People at the table', minimum: 1 },
      email: { type: 'string', format: 'email' },
      area: { type: 'string', enum: ['inside', 'terrace'] },
      sure: { type: 'boolean' },
      diets: { type: 'array', items: { type: 'string', enum: ['vegan', 'halal'] } },
    },
    required: ['guests', 'sure'],
  },
  execution_id: 'exe_1',
  agent_id: 'agt_1',
};
const { schema: _schema, ...asked } = question;
const address = (url: string): UiInput => ({ ...asked, url });

const view = (input: UiInput, props: Partial<Parameters<typeof InputForm>[0]> = {}) => {
  const onAnswer = vi.fn();
  const { container } = render(
    <InputForm input={input} action={null} onAnswer={onAnswer} {...props} />,
  );
  return { onAnswer, container };
};
const button = (name: string) => screen.getByRole('button', { name });

describe('InputForm', () => {
  it('shows a field for each property, and sends only what was entered', async () => {
    const { onAnswer } = view(question);
    expect(screen.getByRole('region', { name: 'book_table needs some details' })).toBeTruthy();
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.type(screen.getByLabelText('Guests (required)'), '4');
    await userEvent.selectOptions(screen.getByLabelText('area'), 'terrace');
    await userEvent.selectOptions(screen.getByLabelText('sure (required)'), 'Yes');
    await userEvent.click(screen.getByLabelText('vegan'));
    await userEvent.click(button('Send'));
    expect(onAnswer).toHaveBeenCalledExactlyOnceWith('call_1/table', {
      action: 'accept',
      content: { guests: 4, area: 'terrace', sure: true, diets: ['vegan'] },
    });
  });

  it('shows problems at their fields after the first try, and focuses the first one', async () => {
    const { onAnswer } = view(question);
    expect(screen.queryByRole('alert')).toBeNull();
    await userEvent.type(screen.getByLabelText('email'), 'ann');
    await userEvent.click(button('Send'));
    expect(screen.getAllByRole('alert').map((one) => one.textContent)).toEqual([
      'Enter a value.',
      'This is not a valid email.',
      'Enter a value.',
    ]);
    expect(document.activeElement).toBe(screen.getByLabelText('Guests (required)'));
    expect(await seriousInDocument()).toEqual([]);
    expect(onAnswer).not.toHaveBeenCalled();
  });

  it('declines and cancels without checking the fields', async () => {
    const { onAnswer } = view(question);
    await userEvent.click(button('Decline'));
    await userEvent.click(button('Cancel the call'));
    expect(onAnswer.mock.calls.map((call: unknown[]) => call[1])).toEqual([
      { action: 'decline' },
      { action: 'cancel' },
    ]);
  });

  it('takes JSON for a schema without a simple form', async () => {
    const nested = { type: 'object', properties: { a: { type: 'object' } } };
    const { onAnswer } = view({ ...question, schema: nested });
    const field = screen.getByLabelText('Answer as JSON');
    await userEvent.clear(field);
    await userEvent.click(button('Send'));
    expect(screen.getByRole('alert').textContent).toContain('This is not JSON');
    await userEvent.type(field, '{{"a":{{"b":1}}');
    await userEvent.click(button('Send'));
    expect(onAnswer).toHaveBeenCalledExactlyOnceWith('call_1/table', {
      action: 'accept',
      content: { a: { b: 1 } },
    });
  });

  it('shows an address whole, with its real host and who sent it', async () => {
    const { onAnswer, container } = view(
      address('https://bank.example@evil.example/pay?to=\u202ex'),
    );
    expect(container.querySelector('strong')?.textContent).toBe('evil.example');
    const text = container.querySelector('[data-onward="input-address"]')?.textContent;
    expect(text).toBe('https://bank.example@evil.example/pay?to=%E2%80%AEx');
    expect(screen.getByText(/The tool book_table sent this address/)).toBeTruthy();
    const link = screen.getByRole<HTMLAnchorElement>('link');
    expect([link.target, link.rel, link.href]).toEqual(['_blank', 'noopener noreferrer', text]);
    expect(await seriousInDocument()).toEqual([]);
    await userEvent.click(button('I have finished'));
    expect(onAnswer).toHaveBeenCalledExactlyOnceWith('call_1/table', { action: 'accept' });
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'no address'])(
    'makes no link of %s',
    (url) => {
      view(address(url));
      expect(screen.queryByRole('link')).toBeNull();
      expect(screen.getByText(url)).toBeTruthy();
    },
  );

  it('shows hostile text as text', () => {
    const { container } = view({
      ...question,
      message: '<img src=x onerror=alert(1)>\u202eabc\u001b[31m',
      schema: { type: 'object', properties: { a: { type: 'string', title: '\u202e<b>x</b>' } } },
    });
    expect(container.querySelector('img, b')).toBeNull();
    expect(container.textContent).toContain('<img src=x');
    for (const hidden of ['\u202e', '\u001b']) expect(container.textContent).not.toContain(hidden);
  });

  it('keeps what was entered while the answer is on its way and if it fails', async () => {
    const onAnswer = vi.fn();
    const form = (action: Parameters<typeof InputForm>[0]['action']) => (
      <InputForm input={question} action={action} onAnswer={onAnswer} />
    );
    const { rerender } = render(form(null));
    await userEvent.type(screen.getByLabelText('Guests (required)'), '4');
    const error = failed('call_1/table', 'answer');
    rerender(form({ ...error, status: 'pending' }));
    await userEvent.click(button('Decline'));
    expect(onAnswer).not.toHaveBeenCalled();
    rerender(form(error));
    expect(screen.getByRole('alert').textContent).toContain('the server answered 503');
    expect(screen.getByLabelText<HTMLInputElement>('Guests (required)').value).toBe('4');
    const late = Object.assign(new Error('late'), { code: 'unknown_input' });
    rerender(form({ ...error, error: late }));
    expect(screen.getByRole('alert').textContent).toContain('Already answered');
    rerender(form({ ...error, status: 'done' }));
    expect(screen.getByRole('status').textContent).toContain('Answered.');
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
  });
});

describe('InputList', () => {
  function Page(): ReactElement {
    const [inputs, setInputs] = useState([question, { ...question, input_id: 'call_1/b' }]);
    const next = useRef<HTMLTextAreaElement>(null);
    return (
      <>
        <InputList
          inputs={inputs}
          actions={[]}
          nextFocus={next}
          onAnswer={(id) => setInputs((all) => all.filter(({ input_id }) => input_id !== id))}
        />
        <textarea ref={next} aria-label="Message" />
      </>
    );
  }

  it('moves the focus to the next question, and then to the given element', async () => {
    render(<Page />);
    await userEvent.click(screen.getAllByRole('button', { name: 'Decline' })[0]!);
    await waitFor(() => expect(document.activeElement?.tagName).toBe('H3'));
    await userEvent.click(screen.getByRole('button', { name: 'Decline' }));
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Message')));
  });
});
