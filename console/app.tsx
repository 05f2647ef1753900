import { useEffect } from 'preact/hooks';
import type { AccessResource } from '../src/domain/settings/access.ts';
import { access } from './access.ts';
import { connection } from './live.ts';
import { Note } from './parts/text.tsx';
import { place, to } from './place.ts';
import { Keys } from './rooms/keys.tsx';
import { Networks } from './rooms/networks.tsx';
import { Overview } from './rooms/overview.tsx';
import { PluginRoom, Plugins } from './rooms/plugins.tsx';
import { RelayerRoom, Relayers } from './rooms/relayers.tsx';
import { SignIn } from './rooms/sign-in.tsx';
import { TransactionRoom } from './rooms/transaction.tsx';
import { Transactions, TransactionsOfAll } from './rooms/transactions.tsx';
import { WebhookRoom, Webhooks } from './rooms/webhooks.tsx';
import { client, signOut } from './session.ts';

type RoomEntry = readonly [path: string, name: string, ...shown: AccessResource[]];

/** The rooms, each with the resources that it shows. A room is hidden if the key may see none of them. */
const ROOMS: readonly RoomEntry[] = [
  ['', 'Overview'],
  ['transactions', 'Transactions', 'relayers'],
  ['relayers', 'Relayers', 'relayers'],
  ['plugins', 'Plugins', 'plugins'],
  ['webhooks', 'Webhooks', 'notifications'],
  ['networks', 'Networks', 'networks'],
  ['keys', 'Keys and audit', 'api-keys', 'audit'],
];

export function App() {
  const [room = '', ...rest] = place.value;
  const name = ROOMS.find(([path]) => path === room)?.[1] ?? 'Not found';
  useEffect(() => {
    document.title = `${[...rest, name].join(' · ')} – Isolayer`;
  });
  const isIn = client.value !== null;
  useEffect(() => showCurrent(), [room, isIn]);
  if (!isIn) return <SignIn />;
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={to()}>
          <span class="mark" aria-hidden="true" /> Isolayer
        </a>
        <nav aria-label="Rooms">
          {ROOMS.filter(isSeen).map(([path, label]) => (
            <a key={path} href={path === '' ? '#/' : to(path)} aria-current={path === room ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <span class={`link ${connection.value}`} role="status">
          {connection.value}
        </span>
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      {connection.value === 'lost' && (
        <p class="banner" role="alert">
          The server cannot be reached. What you see may be out of date. The page reconnects by itself.
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <Room room={room} rest={rest} />
      </main>
    </>
  );
}

function isSeen([, , ...shown]: RoomEntry): boolean {
  return shown.length === 0 || shown.some((one) => access.value.sees(one));
}

/**
 * Scrolls the current room's link into view, because a narrow screen does not fit all links. `scrollIntoView` would
 * move the keyboard focus, too.
 */
function showCurrent(): void {
  const current = document.querySelector<HTMLElement>('nav [aria-current]');
  const rooms = current?.parentElement;
  if (current == null || rooms == null) return;
  rooms.scrollLeft = current.offsetLeft - rooms.offsetLeft - (rooms.clientWidth - current.offsetWidth) / 2;
}

/** Moves the focus to the content. A link to `#main` cannot do so, because the part after # is the current place. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Room({ room, rest: [first, second] }: { room: string; rest: readonly string[] }) {
  switch (room) {
    case 'transactions':
      if (first === undefined) return <TransactionsOfAll />;
      return second === undefined ? (
        <Transactions key={first} relayerId={first} />
      ) : (
        <TransactionRoom key={second} relayerId={first} id={second} />
      );
    case 'relayers':
      return first === undefined ? <Relayers /> : <RelayerRoom key={first} id={first} />;
    case 'plugins':
      return first === undefined ? <Plugins /> : <PluginRoom key={first} id={first} />;
    case 'webhooks':
      return first === undefined ? <Webhooks /> : <WebhookRoom key={first} id={first} />;
    case 'networks':
      return <Networks />;
    case 'keys':
      return <Keys />;
    case '':
      return <Overview />;
    default:
      return <Note kind="bad">There is no page at this address. Choose one above.</Note>;
  }
}
