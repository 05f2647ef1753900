import { useEffect } from 'preact/hooks';
import type { AccessResource } from '../src/features/api-keys/records/access.ts';
import { access } from './access.ts';
import { connection } from './live.ts';
import { CallPage } from './pages/calls.tsx';
import { Keys } from './pages/keys.tsx';
import { Networks } from './pages/networks.tsx';
import { Overview } from './pages/overview.tsx';
import { PluginPage, Plugins } from './pages/plugins.tsx';
import { RelayerPage, Relayers } from './pages/relayers.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { TransactionPage } from './pages/transaction.tsx';
import { Transactions, TransactionsOfAll } from './pages/transactions.tsx';
import { WebhookPage, Webhooks } from './pages/webhooks.tsx';
import { Note } from './parts/text.tsx';
import { place, to } from './place.ts';
import { client, signOut } from './session.ts';

type PageEntry = readonly [path: string, name: string, ...shown: AccessResource[]];

/** The pages, each with the resources that it shows. A page is hidden if the key may see none of them. */
const PAGES: readonly PageEntry[] = [
  ['', 'Overview'],
  ['transactions', 'Transactions', 'relayers'],
  ['relayers', 'Relayers', 'relayers'],
  ['plugins', 'Plugins', 'plugins'],
  ['webhooks', 'Webhooks', 'notifications'],
  ['networks', 'Networks', 'networks'],
  ['keys', 'Keys and audit', 'api-keys', 'audit'],
];

export function App() {
  const [page = '', ...rest] = place.value;
  const name = PAGES.find(([path]) => path === page)?.[1] ?? 'Not found';
  useEffect(() => {
    document.title = `${[...rest, name].join(' · ')} – Isolayer`;
  });
  const isIn = client.value !== null;
  useEffect(() => showCurrent(), [page, isIn]);
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
        <nav aria-label="Main">
          {PAGES.filter(isSeen).map(([path, label]) => (
            <a key={path} href={path === '' ? '#/' : to(path)} aria-current={path === page ? 'page' : undefined}>
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
        <Page page={page} rest={rest} />
      </main>
    </>
  );
}

function isSeen([, , ...shown]: PageEntry): boolean {
  return shown.length === 0 || shown.some((one) => access.value.sees(one));
}

/**
 * Scrolls the current page's link into view, because a narrow screen does not fit all links. `scrollIntoView` would
 * move the keyboard focus, too.
 */
function showCurrent(): void {
  const current = document.querySelector<HTMLElement>('nav [aria-current]');
  const links = current?.parentElement;
  if (current == null || links == null) return;
  links.scrollLeft = current.offsetLeft - links.offsetLeft - (links.clientWidth - current.offsetWidth) / 2;
}

/** Moves the focus to the content. A link to `#main` cannot do so, because the part after # is the current place. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Page({ page, rest: [first, second] }: { page: string; rest: readonly string[] }) {
  switch (page) {
    case 'transactions':
      if (first === undefined) return <TransactionsOfAll />;
      return second === undefined ? (
        <Transactions key={first} relayerId={first} />
      ) : (
        <TransactionPage key={second} relayerId={first} id={second} />
      );
    case 'relayers':
      return first === undefined ? <Relayers /> : <RelayerPage key={first} id={first} />;
    case 'plugins':
      if (first === undefined) return <Plugins />;
      return second === undefined ? (
        <PluginPage key={first} id={first} />
      ) : (
        <CallPage key={second} pluginId={first} id={second} />
      );
    case 'webhooks':
      return first === undefined ? <Webhooks /> : <WebhookPage key={first} id={first} />;
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
