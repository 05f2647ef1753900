import './language.ts';

import { render } from 'preact';
import { App } from './app.tsx';
import './style.css';
import 'uplot/dist/uPlot.min.css';

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
