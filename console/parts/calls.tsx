import { useState } from 'preact/hooks';
import { ApiError } from '../../src/client/client.ts';
import { lackOf } from '../access.ts';
import type { CallNews } from '../live.ts';
import { client, reasonOf } from '../session.ts';
import { Badge, Note, Time } from './text.tsx';

/** The fields that the form reads from an answer. Answers of failed calls have them, too. */
interface Answer {
  data?: unknown;
  metadata?: { logs?: { level: string; message: string }[]; traces?: unknown[]; usage?: unknown };
}

/** A form that calls a plugin and shows the answer with its logs and traces. */
export function CallForm({ pluginId }: { pluginId: string }) {
  const [route, setRoute] = useState('');
  const [params, setParams] = useState('{}');
  const [answer, setAnswer] = useState<ShownAnswer>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    let body: unknown;
    try {
      body = { params: JSON.parse(params || '{}') as unknown };
    } catch (error) {
      setAnswer({
        text: `The parameters are not JSON: ${error instanceof Error ? error.message : ''}`,
        isBad: true,
        more: {},
      });
      return;
    }
    setBusy(true);
    try {
      const query = route === '' ? {} : { query: { route } };
      const value = await client.value?.call('callPlugin', { path: { id: pluginId }, ...query, body });
      setAnswer({ text: textOf(value), isBad: false, more: value ?? {} });
    } catch (error) {
      const reason = reasonOf(error);
      const more: Answer = error instanceof ApiError ? error.body : {};
      const text = error instanceof ApiError ? `${error.status}: ${reason}` : reason;
      setAnswer({ text: more.data == null ? text : `${text}\n${textOf(more.data)}`, isBad: true, more });
    }
    setBusy(false);
  };
  const lack = lackOf('callPlugin', { path: { id: pluginId }, body: {} });
  return (
    <form class="call" onSubmit={(event) => void submit(event)}>
      <label>
        Route
        <input
          value={route}
          placeholder="/"
          spellcheck={false}
          onInput={(event) => setRoute(event.currentTarget.value)}
        />
      </label>
      <label>
        Parameters
        <textarea
          rows={4}
          spellcheck={false}
          value={params}
          onInput={(event) => setParams(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy || lack !== undefined} title={lack}>
        Call
      </button>
      {answer !== undefined && <AnswerOf {...answer} />}
    </form>
  );
}

interface ShownAnswer {
  text: string;
  isBad: boolean;
  more: Answer;
}

function AnswerOf({ text, isBad, more }: ShownAnswer) {
  const { logs = [], traces = [] } = more.metadata ?? {};
  return (
    <div class="columns" aria-live="polite">
      <section>
        <h3>Answer</h3>
        <pre class={isBad ? 'bad' : ''} tabIndex={0}>
          {text}
        </pre>
      </section>
      {logs.length > 0 && (
        <section>
          <h3>Logs</h3>
          <Lines lines={logs} />
        </section>
      )}
      {traces.length > 0 && (
        <section>
          <h3>Traces</h3>
          <pre tabIndex={0}>{textOf(traces)}</pre>
        </section>
      )}
    </div>
  );
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? `${inner}` : inner), 2) ?? '';
}

/** Longer lines are cut. The browser would lay out a megabyte too slowly. */
const MAX_LINE = 4_000;

/** Shows the outcomes and logs of calls as text, the latest first. */
export function CallLog({ calls }: { calls: readonly Omit<CallNews, 'plugin_id'>[] }) {
  if (calls.length === 0) return <Note>No logs yet. New ones appear here.</Note>;
  return (
    <ol class="log" aria-label="Calls and logs">
      {calls.map(({ request_id: id, at, outcome, duration_ms: duration, logs, key_id: keyId }) => (
        <li key={id}>
          <p>
            <Badge state={outcome} /> <Time at={at} />{' '}
            <span class="quiet">
              {duration} ms · key {keyId}
            </span>
          </p>
          {logs.length > 0 && <Lines lines={logs} />}
        </li>
      ))}
    </ol>
  );
}

function Lines({ lines }: { lines: readonly { level: string; message: string }[] }) {
  return (
    <pre class="lines" tabIndex={0}>
      {lines.map(({ level, message }, index) => (
        <span key={index} class={`of-${level}`}>
          {message.length > MAX_LINE ? `${message.slice(0, MAX_LINE)}… (${message.length} characters)` : message}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
