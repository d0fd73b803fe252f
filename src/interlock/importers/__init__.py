"""Importers turn a source of tools into declared tools or reviewed specs."""
