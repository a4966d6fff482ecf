// Builds the page. The result is static files in `dist`, which the package ships and `baton serve` sends.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// What is built is what ships: with another value, as in a test, React would be twice as large.
if (process.argv.includes('build')) process.env.NODE_ENV = 'production';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy of the server allows no data: URLs in styles or scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npm run dev -w web`: the page with hot reload, next to a `baton serve` on its usual port.
  server: { proxy: { '/api': { target: process.env.BATON_SERVER ?? 'http://127.0.0.1:4187', changeOrigin: true } } },
});
