import type { CallNews } from '../live.ts';
import { Badge, Note, Time } from './text.tsx';

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

export function Lines({ lines }: { lines: readonly { level: string; message: string }[] }) {
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
