import { useState, type ReactElement } from 'react';
import type { ReplaySummary } from '../../server/replay-view.ts';
import { Glyph } from '../glyphs.tsx';
import {
  limitFields,
  placeOf,
  recordedText,
  recordedValues,
  SLIDER_STEPS,
  typedLimit,
  valueAt,
  type ChangedLimits,
  type LimitField,
  type LimitName,
} from './limit-fields.ts';
import { codeOf } from './what-if-text.ts';

const policies: Readonly<Record<string, string>> = {
  '': 'As recorded',
  production: 'Production',
  stopOnAnyError: 'Stop on any error',
  retryToolErrors: 'Retry tool errors',
  ignoreToolErrors: 'Ignore tool errors',
  retryAll: 'Retry all errors',
};

export interface LimitsPanelProps {
  readonly replays: readonly ReplaySummary[];
  readonly limits: ChangedLimits;
  readonly errorPolicy: string;
  readonly onLimit: (name: LimitName, value: number | null) => void;
  readonly onErrorPolicy: (name: string) => void;
  readonly onReset: () => void;
}

/** Renders a slider and a field for each limit. */
export function LimitsPanel(props: LimitsPanelProps): ReactElement {
  const { replays, limits, errorPolicy, onLimit, onErrorPolicy, onReset } = props;
  const [isOpen, setOpen] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const unchanged = limitFields.filter(({ name }) => limits[name] === undefined).length;
  const isChanged = unchanged < limitFields.length || errorPolicy !== '';
  const copy = (): void => {
    void navigator.clipboard.writeText(codeOf(limits, errorPolicy)).then(() => setCopied(true));
  };
  return (
    <aside className="what-if-limits" aria-label="Limits" data-open={isOpen}>
      <h2>Limits</h2>
      <p className="muted">Applied to recorded runs. Nothing is sent to a model.</p>
      {limitFields.map((field) => (
        <Limit
          key={field.name}
          field={field}
          value={limits[field.name] ?? null}
          recorded={recordedValues(replays, field.name)}
          onChange={(value) => onLimit(field.name, value)}
        />
      ))}
      <div className="what-if-limit what-if-policy" data-changed={errorPolicy !== ''}>
        <label>
          <span>On an error</span>
          <select value={errorPolicy} onChange={({ target }) => onErrorPolicy(target.value)}>
            {Object.entries(policies).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      {unchanged > 0 && (
        <button
          type="button"
          className="what-if-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Hide unchanged limits' : `${unchanged} unchanged limits`}
        </button>
      )}
      <div className="what-if-buttons">
        <button type="button" className="button" disabled={!isChanged} onClick={copy}>
          {isCopied ? 'Copied' : 'Copy as code'}
        </button>
        <button
          type="button"
          className="button"
          disabled={!isChanged}
          onClick={() => {
            setCopied(false);
            onReset();
          }}
        >
          <Glyph name="reload" size={14} /> Reset
        </button>
      </div>
    </aside>
  );
}

function Limit({
  field,
  value,
  recorded,
  onChange,
}: {
  readonly field: LimitField;
  readonly value: number | null;
  readonly recorded: readonly number[];
  readonly onChange: (value: number | null) => void;
}): ReactElement {
  const { label, least, most, text } = field;
  const shown = value ?? recorded.at(-1) ?? null;
  return (
    <div className="what-if-limit" data-changed={value !== null}>
      <label>
        <span>{label}</span>
        <input
          type="text"
          inputMode="decimal"
          value={value === null ? '' : String(value)}
          placeholder={recorded.length === 1 ? String(recorded[0]) : 'as recorded'}
          onChange={({ target }) => onChange(typedLimit(field, target.value))}
        />
      </label>
      <input
        type="range"
        aria-label={`${label}, slider`}
        aria-valuetext={shown === null ? 'none' : text(shown)}
        min={0}
        max={SLIDER_STEPS}
        value={shown === null ? SLIDER_STEPS : placeOf(field, shown)}
        onChange={({ target }) => onChange(valueAt(field, Number(target.value)))}
      />
      <p className="muted">
        <span>
          {text(least)}–{text(most)}
        </span>
        <span>{value === null ? 'as recorded' : recordedText(field, recorded)}</span>
      </p>
    </div>
  );
}
