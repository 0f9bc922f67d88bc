"""A backend of gradtape that computes in float32."""
